//! Counts how many requests a second each client sends.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

/// Time between two looks for clients that have gone.
pub(crate) const TIDY: Duration = Duration::from_secs(60);

/// The address of a client; clients of a Unix socket have none and count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) Option<IpAddr>);

impl Peer {
    /// Who counts as one client: an address, of version 6 the network that a site is given.
    fn key(self) -> IpAddr {
        match self.0 {
            None => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            Some(IpAddr::V6(address)) if !address.is_loopback() => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
            }
            Some(address) => address,
        }
    }
}

type Store = HashMapStateStore<IpAddr>;
type Instant = <MonotonicClock as governor::clock::Clock>::Instant;

/// Counts the requests of each client.
pub(crate) struct Rates {
    clock: MonotonicClock,
    limiter: RateLimiter<IpAddr, Store, MonotonicClock, NoOpMiddleware<Instant>>,
}

impl Rates {
    /// Clients may send `rate` requests a second, and as many at once.
    pub(crate) fn new(rate: NonZeroU32) -> Self {
        let clock = MonotonicClock;
        Self { limiter: RateLimiter::new(Quota::per_second(rate), Store::default(), clock.clone()), clock }
    }

    /// Counts a request; if it is one too many, how long the client has to wait.
    pub(crate) fn count(&self, peer: Peer) -> Result<(), Duration> {
        self.limiter.check_key(&peer.key()).map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Forgets clients that have sent nothing for a while.
    pub(crate) fn tidy(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_is_counted_on_its_own() {
        let rates = Rates::new(NonZeroU32::new(3).expect("not zero"));
        let peer = |text: &str| Peer(Some(text.parse().expect("an address")));
        let (one, other) = (peer("192.0.2.1"), peer("192.0.2.2"));
        assert!((0..3).all(|_| rates.count(one).is_ok()));
        assert!(rates.count(one).is_err_and(|wait| wait <= Duration::from_secs(1)));
        assert!(rates.count(other).is_ok() && rates.count(Peer(None)).is_ok());
        assert_eq!(peer("2001:db8::1").key(), peer("2001:db8::2").key(), "one site");
        assert_ne!(peer("2001:db8::1").key(), peer("2001:db8:0:1::1").key());
        rates.tidy();
        assert!(rates.count(one).is_err(), "a client that has just asked is not forgotten");
    }
}
