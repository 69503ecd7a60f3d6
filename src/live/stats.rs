//! `/system_stats` of a ComfyUI on this machine: the allocator's own numbers beside the driver's.
//!
//! The only network use of the program, asked for by name; any address but this machine's own is refused.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use miette::Diagnostic;
use thiserror::Error;

/// For a whole answer, however it drips in: a server that is busy loading may answer late; a sample is not worth more.
const PATIENCE: Duration = Duration::from_millis(500);
/// Largest answer that is read.
const ANSWER_LIMIT: usize = 256 * 1024;
const MIB: f64 = 1024.0 * 1024.0;

/// Why an address cannot be polled.
#[derive(Debug, Error, Diagnostic)]
pub enum StatsError {
    #[error("`{given}` is not an address of ComfyUI")]
    #[diagnostic(code(comfy_triage::run::stats_url), help("write it as http://127.0.0.1:8188"))]
    Form { given: String },
    #[error("`{given}` is not on this machine")]
    #[diagnostic(
        code(comfy_triage::run::stats_url_not_local),
        help("only 127.0.0.1, [::1] and localhost are polled: nothing leaves this machine")
    )]
    NotLocal { given: String },
}

/// An address on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatsUrl {
    host: String,
    addresses: Vec<SocketAddr>,
}

/// Figures of the first device, in MiB.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    pub vram_free_mib: Option<f64>,
    /// Reserved by PyTorch's allocator.
    pub torch_reserved_mib: Option<f64>,
    /// Of it, not allocated.
    pub torch_free_mib: Option<f64>,
    pub ram_free_mib: Option<f64>,
}

impl StatsUrl {
    /// Reads an address.
    ///
    /// # Errors
    /// When it is none, or not one of this machine.
    pub fn parse(given: &str) -> Result<Self, StatsError> {
        let form = || StatsError::Form { given: given.to_owned() };
        let rest = given.strip_prefix("http://").ok_or_else(form)?;
        let host = rest.split('/').next().unwrap_or_default();
        let name = host
            .rsplit_once(':')
            .filter(|(name, port)| !port.ends_with(']') && (!name.contains(':') || name.ends_with(']')))
            .map_or(host, |(name, _)| name);
        let with_port = if name == host { format!("{host}:80") } else { host.to_owned() };
        if name.is_empty() || host.contains('@') {
            return Err(form());
        }
        // Names other than this one could be sent anywhere by a name server.
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        if !name.eq_ignore_ascii_case("localhost") && bare.parse::<std::net::IpAddr>().is_err() {
            return Err(StatsError::NotLocal { given: given.to_owned() });
        }
        let addresses: Vec<SocketAddr> =
            with_port.to_socket_addrs().map_err(|_| form())?.filter(|address| address.ip().is_loopback()).collect();
        if addresses.is_empty() {
            return Err(StatsError::NotLocal { given: given.to_owned() });
        }
        Ok(Self { host: host.to_owned(), addresses })
    }

    /// Asks once. `None` when nobody answers, or not in time.
    pub fn ask(&self) -> Option<Stats> {
        parse_body(&self.get("/system_stats", PATIENCE, ANSWER_LIMIT)?)
    }

    /// The JSON object that the server gives for `path`, when all of it comes in time. At most `limit` bytes.
    pub(super) fn get(&self, path: &str, patience: Duration, limit: usize) -> Option<String> {
        let until = Instant::now() + patience;
        let left = || until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        let mut stream = self.addresses.iter().find_map(|address| TcpStream::connect_timeout(address, left()?).ok())?;
        stream.set_write_timeout(Some(left()?)).ok()?;
        // In one piece: a server may answer and hang up after the first.
        let question = format!("GET {path} HTTP/1.0\r\nHost: {}\r\nAccept: application/json\r\n\r\n", self.host);
        stream.write_all(question.as_bytes()).ok()?;
        let (mut answer, mut block) = (Vec::new(), [0; 8 * 1024]);
        while answer.len() < limit {
            stream.set_read_timeout(Some(left()?)).ok()?;
            let read = match stream.read(&mut block) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return None,
            };
            answer.extend_from_slice(block.get(..read).unwrap_or_default());
            // Not every server closes the connection behind its answer. Only a closing brace can end an object.
            if read == 0 || answer.ends_with(b"}") || answer.ends_with(b"}\n") {
                let object = object_in(&String::from_utf8_lossy(&answer));
                if object.is_some() || read == 0 {
                    return object;
                }
            }
        }
        None
    }
}

/// The JSON object of an answer that says 200.
fn object_in(answer: &str) -> Option<String> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if head.split(' ').nth(1) != Some("200") {
        return None;
    }
    // A server that speaks in chunks puts its sizes between: the JSON stands from the first to the last brace.
    let from = body.find('{')?;
    let to = body.rfind('}')?;
    let object = body.get(from..=to)?;
    serde_json::from_str::<serde::de::IgnoredAny>(object).is_ok().then(|| object.to_owned())
}

/// Reads an answer with its head.
pub fn parse_stats(answer: &str) -> Option<Stats> {
    parse_body(&object_in(answer)?)
}

fn parse_body(object: &str) -> Option<Stats> {
    let json: serde_json::Value = serde_json::from_str(object).ok()?;
    let mib = |value: &serde_json::Value| value.as_f64().filter(|bytes| *bytes >= 0.0).map(|bytes| bytes / MIB);
    let device = &json["devices"][0];
    Some(Stats {
        vram_free_mib: mib(&device["vram_free"]),
        torch_reserved_mib: mib(&device["torch_vram_total"]),
        torch_free_mib: mib(&device["torch_vram_free"]),
        ram_free_mib: mib(&json["system"]["ram_free"]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_polled() {
        for good in [
            "http://127.0.0.1:8188",
            "http://127.0.0.1:8188/",
            "http://localhost:8188",
            "http://[::1]:8188/system_stats",
            "http://127.0.0.5",
        ] {
            assert!(StatsUrl::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "http://192.168.0.2:8188",
            "http://example.org:8188",
            "http://0.0.0.0:8188",
            "http://127.0.0.1.example.org:80",
            "http://8.8.8.8",
        ] {
            assert!(matches!(StatsUrl::parse(bad), Err(StatsError::NotLocal { .. })), "{bad}");
        }
        for none in ["127.0.0.1:8188", "https://127.0.0.1:8188", "http://", "http://user@127.0.0.1:8188"] {
            assert!(matches!(StatsUrl::parse(none), Err(StatsError::Form { .. })), "{none}");
        }
    }

    /// A server on this machine that answers once with `parts`, with pauses between them.
    fn server(parts: Vec<Vec<u8>>, pause: Duration) -> StatsUrl {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            for part in parts {
                if stream.write_all(&part).is_err() {
                    return;
                }
                std::thread::sleep(pause);
            }
            // It keeps the connection open.
            let _ = stream.read(&mut [0; 4096]);
            std::thread::sleep(Duration::from_secs(30));
        });
        StatsUrl::parse(&url).unwrap()
    }

    #[test]
    fn a_server_that_does_not_hang_up_is_understood() {
        let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        let body = b"{\"system\":{\"ram_free\":1048576},\"devices\":[]}".to_vec();
        assert_eq!(server(vec![head, body], Duration::ZERO).ask().unwrap().ram_free_mib, Some(1.0));
    }

    #[test]
    fn a_server_that_drips_or_floods_holds_nothing_up() {
        let begun = Instant::now();
        let drips: Vec<Vec<u8>> =
            b"HTTP/1.1 200 OK\r\n\r\n{".iter().copied().chain([b' '; 2000]).map(|byte| vec![byte]).collect();
        assert_eq!(server(drips, Duration::from_millis(20)).ask(), None);
        let flood = vec![vec![b'{'; 64 * 1024]; 64];
        assert_eq!(server(flood, Duration::ZERO).ask(), None);
        assert_eq!(server(Vec::new(), Duration::ZERO).ask(), None, "it says nothing at all");
        // The drips alone last forty seconds.
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn an_answer_is_read_and_an_error_page_is_not() {
        let body = "{\"system\":{\"ram_free\":1048576},\"devices\":[{\"vram_free\":2097152,\"torch_vram_total\":4194304,\"torch_vram_free\":1048576}]}";
        let stats = parse_stats(&format!("HTTP/1.1 200 OK\r\nServer: x\r\n\r\n{body}")).unwrap();
        assert_eq!(
            (stats.vram_free_mib, stats.torch_reserved_mib, stats.torch_free_mib, stats.ram_free_mib),
            (Some(2.0), Some(4.0), Some(1.0), Some(1.0))
        );
        assert_eq!(parse_stats(&format!("HTTP/1.1 404 Not Found\r\n\r\n{body}")), None);
        for wrong in ["garbage", "", "HTTP/1.1 200 OK\r\n\r\n<html>{}</html>}", "HTTP/1.1 200 OK\r\n\r\n}{"] {
            assert_eq!(parse_stats(wrong), None, "{wrong}");
        }
        let odd = "HTTP/1.1 200 OK\r\n\r\n{\"system\":{\"ram_free\":-5},\"devices\":{\"vram_free\":\"much\"}}";
        assert_eq!(parse_stats(odd), Some(Stats::default()), "figures that cannot be are absent");
    }
}
