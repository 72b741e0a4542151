//! The same transfers over the S3 protocol, against a small server on the loopback interface.

use std::process::Command;
use std::thread;

use aurora_remote::{Remote, RemoteUrl, Trust};

use crate::fixture::{Project, Share, commit, tree};
use crate::s3_server::S3Server;

fn open(share: &Share) -> Remote {
    let url = RemoteUrl::parse("s3://bucket/team/app").expect("the URL is valid");
    let trust = Trust { allows_unsigned: true, ..Trust::default() };
    Remote::open(url, trust, Some(share.records.path().join("records")), true).expect("the remote can be opened")
}

/// Runs a test of this program in a new process with the endpoint in the environment, because a process must not change
/// its own environment while threads run.
fn in_process(test: &str, server: &S3Server) {
    let run = Command::new(std::env::current_exe().expect("the path is known"))
        .args(["--exact", test, "--ignored", "--nocapture"])
        .envs(server.environment())
        .output()
        .expect("the test can be started");
    let text = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && text.contains("1 passed"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn indexes_are_pushed_to_and_pulled_from_an_s3_bucket() {
    let server = S3Server::start(true);
    in_process("s3::transfer_with_s3", &server);
    let objects = server.objects();
    assert!(objects.keys().all(|key| key.starts_with("team/app/")), "{:?}", objects.keys());
    assert!(objects.contains_key("team/app/manifests/0000000000000002"), "{:?}", objects.keys());
}

#[test]
#[ignore = "runs in a process with the endpoint in its environment"]
fn transfer_with_s3() {
    let (share, project) = (Share::new(), Project::with(&tree(60), &commit(1)));
    let first = project.push(&open(&share), None).expect("the index can be pushed");
    assert!(!project.push(&open(&share), None).expect("the index can be pushed").written);
    project.write(&tree(61), &commit(2));
    let second = project.push(&open(&share), None).expect("the index can be pushed");
    assert!(second.uploaded_bytes < first.uploaded_bytes);
    let clone = Project::empty();
    clone.pull_newest(&open(&share)).expect("the index can be pulled");
    assert_eq!(clone.digest(), project.digest());
    assert_eq!(open(&share).verify(true).expect("the remote can be read").problems, [""; 0]);
}

#[test]
fn pushes_at_the_same_time_are_safe_on_a_server_that_ignores_conditions() {
    let server = S3Server::start(false);
    in_process("s3::push_without_conditions", &server);
    assert!(server.objects().keys().all(|key| !key.contains("/locks/")), "{:?}", server.objects().keys());
}

#[test]
#[ignore = "runs in a process with the endpoint in its environment"]
fn push_without_conditions() {
    let machines: Vec<(Share, Project)> =
        (1..4).map(|number| (Share::new(), Project::with(&tree(2), &commit(number)))).collect();
    thread::scope(|scope| {
        for (share, project) in &machines {
            scope.spawn(|| project.push(&open(share), None).expect("the index can be pushed"));
        }
    });
    let remote = open(&machines[0].0);
    let mut commits: Vec<Option<String>> =
        remote.manifests().expect("the remote can be read").into_iter().map(|listed| listed.manifest.commit).collect();
    commits.sort_unstable();
    assert_eq!(commits, [1, 2, 3].map(|number| Some(commit(number))));
    assert_eq!(remote.verify(true).expect("the remote can be read").problems, [""; 0]);
}
