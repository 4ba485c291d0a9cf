//! The operator's block list.

use std::net::IpAddr;

use ipnet::IpNet;

/// Blocked networks and user agent substrings, each with an optional expiry time.
#[derive(Debug, Default)]
pub struct BlockList {
    networks: Vec<(IpNet, Option<i64>)>,
    agents: Vec<(String, Option<i64>)>,
}

impl BlockList {
    /// Blocks a network, either until the Unix time `until` or for good.
    pub fn add_network(&mut self, network: IpNet, until: Option<i64>) {
        self.networks.push((network, until));
    }

    /// Blocks user agents that contain `text`, ignoring case.
    pub fn add_agent(&mut self, text: &str, until: Option<i64>) {
        self.agents.push((text.to_lowercase(), until));
    }

    /// Returns `true` if the client is blocked at the Unix time `now`.
    pub fn blocks(&self, address: IpAddr, agent: Option<&str>, now: i64) -> bool {
        let active = |until: Option<i64>| until.is_none_or(|end| now < end);
        if self.networks.iter().any(|(network, until)| network.contains(&address) && active(*until))
        {
            return true;
        }
        if self.agents.is_empty() {
            return false;
        }
        let agent = agent.unwrap_or_default().to_lowercase();
        self.agents.iter().any(|(part, until)| agent.contains(part.as_str()) && active(*until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_user_agents_are_blocked_until_their_end() {
        let mut list = BlockList::default();
        list.add_network("192.0.2.0/24".parse().unwrap(), None);
        list.add_agent("BadBot", Some(10));
        let (inside, outside) = ("192.0.2.7".parse().unwrap(), "198.51.100.1".parse().unwrap());
        assert!(list.blocks(inside, None, 0));
        assert!(!list.blocks(outside, None, 0));
        assert!(list.blocks(outside, Some("a badbot/1"), 9));
        assert!(!list.blocks(outside, Some("a badbot/1"), 10));
    }
}
