//! Tests for passwords in commands, calls, URLs, requests and manifests.

use super::{masked, random};
use crate::{MASK, find};

#[test]
fn passwords_in_urls_are_masked() {
    assert_eq!(masked("postgres://app:s3cr3t@db:5432/x"), "postgres://app:______@db:5432/x");
    assert_eq!(masked("https://:hunter2@host"), "https://:_______@host");
    assert_eq!(find("https://user:${PW}@host"), []);
    let token = "3fa91c07d2".repeat(4);
    let mask = "_".repeat(token.len());
    assert_eq!(masked(&format!("https://{token}@host/x.git")), format!("https://{mask}@host/x.git"));
    assert_eq!(masked(&format!("https://{token}:x@host")), format!("https://{mask}:x@host"));
    for text in ["https://continuous-integration-service-account@host", &format!("https://host/{token}@v1")] {
        assert_eq!(find(text), []);
    }
}

#[test]
fn sessions_in_cookies_are_masked() {
    let (session, mask) = (random(32), "_".repeat(32));
    let request = |value: &str| format!("Cookie: theme=dark2x9Q; session={value}; lang=en\r\nHost: h\r\n");
    assert_eq!(masked(&request(&session)), request(&mask));
    let response = |value: &str| format!("curl -H 'Set-Cookie: JSESSIONID={value}; Path=/; HttpOnly'");
    assert_eq!(masked(&response(&session)), response(&mask));
    for text in ["Set-Cookie: session=; Max-Age=0", "Cookie: session=${SESSION}", "Cookie: session=<session-id>"] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn credentials_of_commands_and_manifests_are_masked() {
    assert_eq!(masked("curl -s \\\n  -u 'app:s3cr3t-x' https://h"), "curl -s \\\n  -u 'app:________' https://h");
    assert_eq!(masked("curl --user d2LkV78z: https://h"), "curl --user ________: https://h");
    for text in ["curl -u \"$USER:$PASSWORD\"", "curl -u user:password h", "curl h\nsudo -u a:b1c2d3", "curl -u name h"]
    {
        assert_eq!(masked(text), text);
    }
    let manifest = |kind: &str, value: &str| {
        format!(
            "a: 1\n---\ndata:\n  # note\n  key: {value}\n  file: |\n    {value}\nkind: {kind}\nname: {value}\n---\ndata:\n  key: {value}\n"
        )
    };
    let (value, mask) = ("bXlwYXNzd29yZA==", "________________");
    let expected = manifest("Secret", value).replacen(value, mask, 2);
    assert_eq!(masked(&manifest("Secret", value)), expected);
    assert_eq!(masked(&manifest("ConfigMap", value)), manifest("ConfigMap", value));
}

#[test]
fn manifests_in_json_are_masked() {
    let (value, mask) = ("bXlwYXNzd29yZA==", "________________");
    let secret = |kind: &str, value: &str| {
        format!(
            r#"{{"kind": "{kind}", "data": {{"a\"b": "{value}", "c": "{value}"}}, "metadata": {{"name": "bXlwYXNzd29yZA=="}}}}"#
        )
    };
    let list = |kind: &str, value: &str| {
        let other = secret("ConfigMap", "bXlwYXNzd29yZA==");
        format!("{{\n\"kind\": \"List\",\n\"items\": [{other},\n{}]\n}}\n{other}", secret(kind, value))
    };
    assert_eq!(masked(&list("Secret", value)), list("Secret", mask));
    assert_eq!(masked(&list("ConfigMap", value)), list("ConfigMap", value));
    let kind_last = r#"{"stringData":{"k":"a value with words"},"kind":"Secret"}"#;
    assert_eq!(masked(kind_last), kind_last.replace("a value with words", "__________________"));
    let cut_off = format!(r#"{{"kind": "Secret", "data": {{"a": "{value}", "b": "{value}"#);
    assert_eq!(masked(&cut_off), cut_off.replace(value, mask));
}

#[test]
fn passwords_are_masked_where_programs_expect_them() {
    for (text, password) in [
        ("DB_PASS=hunter2x\n", "hunter2x"),
        ("DB_PASS=S3cr3t!Pass$word(9)\n", "S3cr3t!Pass$word(9)"),
        ("export MYSQL_PASS='S3c$r3t!x'", "S3c$r3t!x"),
        ("ENV DB_PASSWORD hunter2x\n", "hunter2x"),
        ("- MYSQL_ROOT_PASSWORD=hunter2x", "hunter2x"),
        ("ansible_become_pass: swordfish\n", "swordfish"),
        ("ansible_ssh_pass: \"Sup3r$ecret\"", "Sup3r$ecret"),
        ("spring.datasource.password=Sup3r$ecret\n", "Sup3r$ecret"),
        ("\"password\": \"Sup3r$ecret!\",", "Sup3r$ecret!"),
        ("password = \"a'B3$x\\\"k9!z\"", "a'B3$x\\\"k9!z"),
        ("<password>Sup3r-Secr3t!x</password>", "Sup3r-Secr3t!x"),
        ("jdbc:mysql://h/db?user=u&password=hunter22\n", "hunter22"),
        ("Server=h;User Id=sa;Password=Sw0rdfish;", "Sw0rdfish"),
        ("machine h login bob password swordfish", "swordfish"),
        ("machine h\n  login bob\n  password swordfish\n", "swordfish"),
        ("default login anonymous password joe@site", "joe@site"),
        ("localhost:5432:mydb:myuser:swordfish", "swordfish"),
        ("# ~/.pgpass\n*:*:*:app:swordfish\n", "swordfish"),
        ("psk=\"my wifi password\"", "my wifi password"),
        ("requirepass swordfish\n", "swordfish"),
        ("PGPASSWORD=swordfish psql -h x", "swordfish"),
        ("sshpass -p swordfish ssh root@host", "swordfish"),
        ("sshpass -p 'two words' ssh root@host", "two words"),
        ("[\"sshpass\", \"-p\", \"swordfish\", \"ssh\"]", "swordfish"),
        ("mysql -u root -pswordfish db", "swordfish"),
        ("docker login -u me -p swordfish registry", "swordfish"),
        ("redis-cli -h h -a swordfish ping", "swordfish"),
        ("mongo -u admin -p swordfish", "swordfish"),
        ("ldapsearch -x -D cn=a -w swordfish -b dc=x", "swordfish"),
        ("smbclient //h/s -U bob%swordfish", "swordfish"),
        ("openssl rsa -in k -passin pass:swordfish", "swordfish"),
        ("7z a -pswordfish x.7z f", "swordfish"),
        ("gpg --batch --passphrase swordfish -c f", "swordfish"),
        ("wget --http-password swordfish \\\n  http://x", "swordfish"),
        ("curl -ubob:swordfish http://x", "swordfish"),
        ("PASSWORD=p@ss\n", "p@ss"),
        ("export DB_PASSWORD='p@ss'\n", "p@ss"),
        ("db.password=a!bc\n", "a!bc"),
        ("db:\n  password: p@ss\n", "p@ss"),
        ("password: \"V@ulzvsV\"\n", "V@ulzvsV"),
        ("password: '1#*ijh_92x7d'\n", "1#*ijh_92x7d"),
        ("POSTGRES_PASSWORD: abc12!\n", "abc12!"),
        ("POSTGRES_PASSWORD: *x7%K2m\n", "*x7%K2m"),
        ("POSTGRES_PASSWORD: z_SbkW26PrjcfdJ1\n", "z_SbkW26PrjcfdJ1"),
        ("nmcli dev wifi connect net password swordfish", "swordfish"),
        ("echo 'bob:swordfish' | sudo chpasswd", "swordfish"),
        ("RUN useradd bob && echo bob:swordfish|chpasswd", "swordfish"),
        ("printf \"%s\\n\" \"bob:two words\" | /usr/sbin/chpasswd -c SHA512", "two words"),
        ("[\"sh\", \"-c\", \"echo bob:swordfish | chpasswd\"]", "swordfish"),
        ("chpasswd <<< \"bob:swordfish\"", "swordfish"),
        ("chpasswd <<<bob:swordfish", "swordfish"),
        ("Authorization: Basic Ym9iOnN3b3Jk", "Ym9iOnN3b3Jk"),
        ("CREATE USER 'bob'@'%' IDENTIFIED BY 'swordfish';", "swordfish"),
        ("GRANT ALL ON shop.* TO 'bob'@'%' IDENTIFIED BY 'swordfish';", "swordfish"),
        ("create user bob identified with caching_sha2_password by 'swordfish'", "swordfish"),
        ("ALTER USER bob WITH PASSWORD 'swordfish';", "swordfish"),
        ("CREATE ROLE bob\n  LOGIN PASSWORD 'swordfish';", "swordfish"),
        ("\"host=db user=u password=swordf1sh dbname=x\"", "swordf1sh"),
        ("vault kv put secret/app password=swordf1sh", "swordf1sh"),
        ("password: process.env.P || \"Sw0rdfish!x\",", "Sw0rdfish!x"),
        ("const pw = process.env.DB_PASSWORD ?? 'Sw0rdfish!x';", "Sw0rdfish!x"),
        ("pw = os.environ.get(\"DB_PASSWORD\") or \"Sw0rdfish!x\"", "Sw0rdfish!x"),
        ("password = ENV['P'] || 'Sw0rdfish!x'", "Sw0rdfish!x"),
        ("ENV.fetch(\"DB_PASSWORD\") { \"Sw0rdfish!x\" }", "Sw0rdfish!x"),
        ("contraseña = \"Sw0rdfish!x\"", "Sw0rdfish!x"),
        ("ConvertTo-SecureString \"Sw0rdfish!x\" -AsPlainText -Force", "Sw0rdfish!x"),
        ("new NetworkCredential(\"bob\", \"Sw0rdfish!x\")", "Sw0rdfish!x"),
        ("requests.get(u, auth=('bob', 'Sw0rdfish!x'))", "Sw0rdfish!x"),
        ("twine upload -u u -p swordfish dist/*", "swordfish"),
        ("http -a bob:swordfish example.org", "swordfish"),
        ("rdesktop -u bob -p swordfish host", "swordfish"),
        ("xfreerdp /u:bob /p:swordfish /v:host", "swordfish"),
        ("ssh-keygen -t rsa -N swordfish -f key", "swordfish"),
        ("sqlplus bob/swordfish@db", "swordfish"),
        ("jdbc:oracle:thin:bob/swordfish@//db:1521/x", "swordfish"),
        ("az keyvault secret set --name n --value swordfish", "swordfish"),
        ("gh secret set NAME --body swordfish", "swordfish"),
        ("nuget setapikey oy2k3Jd82mXq0PzL5vRt7NcY1 -Source x", "oy2k3Jd82mXq0PzL5vRt7NcY1"),
        ("DriverManager.getConnection(url, \"bob\", \"Sw0rdfish!x\")", "Sw0rdfish!x"),
        ("smtp.login(\"bob\", \"Sw0rdfish!x\")", "Sw0rdfish!x"),
        ("new PasswordAuthentication(\"bob\", \"Sw0rdfish!x\".toCharArray())", "Sw0rdfish!x"),
        ("new NetworkCredential(\"bob\", \"Sw0rdfish!x\", \"domain\")", "Sw0rdfish!x"),
        ("rabbitmqctl add_user bob swordfish", "swordfish"),
        ("echo swordfish | sudo -S apt update", "swordfish"),
        ("echo 'two words' | passwd --stdin bob", "two words"),
    ] {
        let expected = text.replace(password, &MASK.to_string().repeat(password.len()));
        assert_eq!(masked(text), expected);
    }
    for text in [
        "password = os.environ[\"DB_PASS1\"]",
        "password: ${DB_PASSWORD}",
        "DB_PASS=$1\n",
        "DB_PASS=changeme\n",
        "DB_PASS=<password>\n",
        "DB_PASS=xxxxxxxx\n",
        "PASS=${PASS:-x1y2z3}\n",
        "psk = params->psk;\n",
        "echo \"$NAME:$PASSWORD\" | chpasswd",
        "echo name:password | chpasswd",
        "printf 'root:%s\\n' \"$1\" | chpasswd",
        "echo a:b1c2d3 | cat; chpasswd < file",
        "chpasswd --help",
        "ConvertTo-SecureString \"$env:PASSWORD\" -AsPlainText",
        "new NetworkCredential(user2, password2)",
        "requests.get(u, auth=('bob', 'password'))",
        "ALTER USER bob WITH PASSWORD '$1';",
        "a special subtag sequence identified by \"lvariant\" will be removed",
        "obj-$(CONFIG_DVB_USB_GP8PSK) += dvb-usb-gp8psk.o\n",
        "db.exec(\"CREATE USER x IDENTIFIED BY '\" + pw + \"'\")",
        "error: the password 'must be longer'",
        "password = process.env.PASSWORD || null;",
        "token = next_token || \"end_of_file2\"",
        "if password or \"nothing here\":",
        "connect(host=h1, user=u2, password=secret_of(user))",
        "http -a \"$AUTH\" example.org",
        "curl http://h -o f && http -a name h",
        "ssh-keygen -t rsa -N '' -f key",
        "sqlplus /nolog",
        "jdbc:oracle:thin:@//db:1521/x",
        "jdbc:oracle:thin:${user}/${password}@db",
        "az keyvault secret set --value \"$VALUE\"",
        "client.setApiKey key2;",
        "DriverManager.getConnection(\"jdbc:derby:memory:x1;create=true\")",
        "DriverManager.getConnection(StubDriverURL, \"userid\", \"password\")",
        "session.login(\"k3Jd82mXq0PzL5vR\", password)",
        "new PasswordAuthentication(\"user\", \"passwordNotCheckedAnyway\".toCharArray())",
        "sqlplus $USER/$PASS@db",
        "rabbitmqctl add_user \"$USER\" \"$PASS\"",
        "echo \"$PASS\" | sudo -S ls",
        "echo done; sudo -S ls",
        "password: String!\n",
        "password: \"Required!\"\n",
        "password: joe@site.org\n",
        "password: &anchor2\n",
        "password: *alias2\n",
        "password: !secret broker\n",
        "password: a!=b\n",
        "base.pass(\"g?y#s\", 1)",
        "mysql -u root -p db",
        "mysql -u root -p$PASS db",
        "sshpass -p \"$PASS\" ssh host",
        "docker run -p 8080:80 x",
        "password=getPassword(user2,realm3)\n",
        "password = user2.password3\n",
        "for(pass=0;pass<2;pass++)\n",
        "render_pass: forward_pass2\n",
        "expectPass(\"Main-Class=Test1\")",
        "MODULE_ALIAS(\"dmi:*:svnA:pnB:pvr*:rvnC:*\");",
    ] {
        assert_eq!(masked(text), text);
    }
}
