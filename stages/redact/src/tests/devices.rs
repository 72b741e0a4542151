//! Tests for passwords in configurations of network devices.

use super::{masked, random};
use crate::MASK;

#[test]
fn passwords_of_devices_are_masked() {
    let random = random(24);
    let table: &[(&str, &[&str])] = &[
        (
            "0822455D0A16",
            &[" password 7 {}", "enable password level 15 7 {}", " neighbor 10.0.0.1 password 7 {}", " key 7 {}"],
        ),
        (
            "0822455D0A16",
            &["  key-string 7 {}", " ip ospf message-digest-key 1 md5 7 {}", "tacacs-server host h key 7 {}"],
        ),
        ("070529184637", &["username bob privilege 15 password 7 {}"]),
        ("$9$nhEmQVczB7dqsO$X.HsgL6x1il0RxkOSSvy", &["enable secret 9 {}", "R1(config)#username bob secret 9 {}"]),
        (
            "$9$Qz8xK2mWp4cSe",
            &["  secret \"{}\"; ## SECRET-DATA", "set security ike policy p pre-shared-key ascii-text \"{}\""],
        ),
        (
            "swordfish",
            &["snmp-server community {} RO", "snmp-server community {}\r", "snmp-server community {} view all RW 10"],
        ),
        ("swordfish", &["set snmp community {} authorization read-only", "snmp-agent community read {}"]),
        ("%^%#Qz8x;K2mWp4,x%^%#", &[" local-user bob password cipher {}", "snmp-agent community write cipher {}"]),
        ("$1c$Qz8xK2mWp4$x,y;z$", &[" local-user bob password irreversible-cipher {}"]),
        (
            random.as_str(),
            &[
                "enable password {}",
                "username bob secret 0 {}",
                "    - \"enable secret {}\",",
                "super password level 3 cipher {}",
            ],
        ),
        (
            random.as_str(),
            &["  key-string {}", " ikev1 pre-shared-key {}", "  pre-shared-key address 0.0.0.0 0.0.0.0 key {}"],
        ),
        (random.as_str(), &["crypto isakmp key {} address 10.0.0.1", "crypto isakmp key 6 {} address 10.0.0.1"]),
        (
            random.as_str(),
            &["radius-server key {}", "radius-server shared-key cipher {}", " ip ospf authentication-key {}"],
        ),
        (
            random.as_str(),
            &["snmp-server user u g v3 auth sha {} priv aes 128 {}", "set authentication password simple {}"],
        ),
    ];
    for (value, commands) in table {
        let mask = MASK.to_string().repeat(value.len());
        for command in *commands {
            let text = |value: &str| format!("interface x\n{}\nend\n", command.replace("{}", value));
            assert_eq!(masked(&text(value)), text(&mask));
        }
    }
    for text in [
        "snmp-server community public RO",
        "snmp-server community STRING RO",
        "snmp-server community <string>",
        "snmp-server community $COMMUNITY RW",
        "enable secret <password>",
        "enable password protection",
        "username and password oauth2",
        "password 7 characters long",
        " * password 8 or 9 times",
        "the secret 5 of 12",
        " pre-shared-key {{ vpn_psk }}",
        " pre-shared-key vpn_psk_2",
        "the key 7 of deadbeef",
        "commands.add(\"enable secret \" + secret2);",
        "radius-server key is required",
        "  key-string: string",
    ] {
        assert_eq!(masked(text), text);
    }
}
