//! Rate limits of clients.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

/// Interval at which clients without recent requests are removed.
pub(crate) const TIDY_INTERVAL: Duration = Duration::from_secs(60);

/// The address of a client. Clients of a Unix socket have no address and count as one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) Option<IpAddr>);

impl Peer {
    /// Returns the key of a client: its IPv4 address, or the /64 network of its IPv6 address, because a whole network
    /// is usually assigned to one site.
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
    /// Creates a limit of `rate` requests per second for each client. A client may send `rate`
    /// requests at once.
    pub(crate) fn new(rate: NonZeroU32) -> Self {
        let clock = MonotonicClock;
        Self { limiter: RateLimiter::new(Quota::per_second(rate), Store::default(), clock.clone()), clock }
    }

    /// Counts a request. If the request exceeds the limit, returns the time that the client has to wait as the error.
    pub(crate) fn count(&self, peer: Peer) -> Result<(), Duration> {
        self.limiter.check_key(&peer.key()).map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Removes clients without recent requests.
    pub(crate) fn tidy(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_a_separate_limit() {
        let rates = Rates::new(NonZeroU32::new(3).expect("not zero"));
        let peer = |text: &str| Peer(Some(text.parse().expect("an address")));
        let (one, other) = (peer("192.0.2.1"), peer("192.0.2.2"));
        assert!((0..3).all(|_| rates.count(one).is_ok()));
        assert!(rates.count(one).is_err_and(|wait| wait <= Duration::from_secs(1)));
        assert!(rates.count(other).is_ok() && rates.count(Peer(None)).is_ok());
        assert_eq!(peer("2001:db8::1").key(), peer("2001:db8::2").key(), "one site");
        assert_ne!(peer("2001:db8::1").key(), peer("2001:db8:0:1::1").key());
        rates.tidy();
        assert!(rates.count(one).is_err(), "a recent client is not removed");
    }
}
