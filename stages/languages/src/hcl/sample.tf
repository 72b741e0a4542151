# The network of the service.

terraform {
  required_version = ">= 1.5"
}

/* Where everything runs. */
variable "region" {
  type    = string
  default = "eu-west-1"
}

locals {
  name = "web-${var.region}"
  tags = {
    owner = "platform"
  }
}

// One server.
resource "aws_instance" "web" {
  ami           = data.aws_ami.ubuntu.id
  instance_type = "t3.micro"
  tags          = local.tags

  root_block_device {
    volume_size = 20
  }
}

data "aws_ami" "ubuntu" {
  most_recent = true
}

module "network" {
  source = "./network"
  ports  = [for port in var.ports : port if port > 1024]
}

output "address" {
  value       = aws_instance.web.public_ip
  description = <<-EOT
    The address of the server.
  EOT
}
