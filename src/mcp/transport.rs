//! Reads and writes one JSON object per line. An invalid message gets a JSON-RPC error response,
//! and the stream continues. Every future here may be dropped at any point without losing or
//! corrupting a line.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, NumberOrString, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;

/// Maximum length of a line in bytes: twice the largest answer that `verify` accepts.
const MAX_LINE_BYTES: usize = 16 << 20;

/// Reads and writes lines.
pub(super) struct Lines<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of an over-long line is being discarded.
    skipping: bool,
    /// Whether a session has begun. Before that, only requests are valid, and any other message
    /// would end the server.
    begun: bool,
    writer: Arc<Mutex<Out<W>>>,
}

/// The bytes to write, and the number of bytes written.
struct Out<W> {
    /// The stream; `None` if it is closed.
    to: Option<W>,
    bytes: Vec<u8>,
    done: usize,
}

impl<W: AsyncWrite + Unpin> Out<W> {
    fn add(&mut self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let line = serde_json::to_vec(message)?;
        self.bytes.extend_from_slice(&line);
        self.bytes.push(b'\n');
        Ok(())
    }

    async fn flush(&mut self) -> io::Result<()> {
        let Some(to) = &mut self.to else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        while self.done < self.bytes.len() {
            match to.write(&self.bytes[self.done..]).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                n => self.done += n,
            }
        }
        self.bytes.clear();
        self.done = 0;
        to.flush().await
    }
}

enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        let out = Out {
            to: Some(writer),
            bytes: Vec::new(),
            done: 0,
        };
        Self {
            reader: BufReader::with_capacity(64 << 10, reader),
            line: Vec::new(),
            skipping: false,
            begun: false,
            writer: Arc::new(Mutex::new(out)),
        }
    }

    /// Reads up to the next line break. If the future is dropped, the bytes read so far stay in
    /// `self`.
    async fn next(&mut self) -> Line {
        loop {
            // A broken pipe means that the client has disconnected.
            let Ok(available) = self.reader.fill_buf().await else {
                return Line::End;
            };
            if available.is_empty() {
                return Line::End;
            }
            let end = available.iter().position(|b| *b == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            if !self.skipping {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            let skipped = self.skipping;
            if self.line.len() > MAX_LINE_BYTES {
                self.line = Vec::new();
                self.skipping = true;
            }
            if end.is_some() {
                let too_long = std::mem::take(&mut self.skipping);
                if too_long && !skipped {
                    return Line::TooLong;
                }
                if !too_long {
                    return Line::Whole;
                }
            } else if self.skipping && !skipped {
                return Line::TooLong;
            }
        }
    }

    /// The message in a line; `Err`: the response to an invalid one.
    fn read(&mut self) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refusal> {
        let line = self.line.trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        let message = message_in(line)?;
        // A client that restarts its server may still send messages about requests to the earlier
        // one.
        let means_something = self.begun || matches!(message, JsonRpcMessage::Request(_));
        Ok(means_something.then_some(message))
    }
}

/// The response to bytes that are no message.
pub(crate) struct Refusal(ErrorData, Option<NumberOrString>);

impl Refusal {
    /// The response as a message of JSON-RPC.
    pub(crate) fn into_message(self) -> TxJsonRpcMessage<RoleServer> {
        JsonRpcMessage::error(self.0, self.1)
    }
}

/// The message of a client.
pub(crate) fn message_in(bytes: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Refusal> {
    serde_json::from_slice(bytes).map_err(|_| refusal(bytes))
}

fn refusal(bytes: &[u8]) -> Refusal {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return Refusal(ErrorData::parse_error("this is not JSON", None), None);
    };
    let id = match &value["id"] {
        Value::String(id) => Some(NumberOrString::String(id.as_str().into())),
        id => id.as_i64().map(NumberOrString::Number),
    };
    let why = if value.is_array() {
        "batches are not taken; send one object at a time"
    } else {
        "not a JSON-RPC message"
    };
    Refusal(ErrorData::invalid_request(why, None), id)
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // Pings and `server/discover` are answered before a session begins.
        if let JsonRpcMessage::Response(response) = &item {
            self.begun |= !matches!(
                response.result,
                ServerResult::EmptyResult(_) | ServerResult::DiscoverResult(_)
            );
        }
        let writer = Arc::clone(&self.writer);
        async move {
            let mut out = writer.lock().await;
            out.add(&item)?;
            out.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let refusal = match self.next().await {
                Line::End => return None,
                Line::TooLong => Refusal(
                    ErrorData::invalid_request(
                        format!("the line is longer than {MAX_LINE_BYTES} bytes"),
                        None,
                    ),
                    None,
                ),
                Line::Whole => {
                    let read = self.read();
                    self.line.clear();
                    match read {
                        Ok(Some(message)) => return Some(message),
                        Ok(None) => continue,
                        Err(refusal) => refusal,
                    }
                }
            };
            let writer = Arc::clone(&self.writer);
            let mut out = writer.lock().await;
            let message = refusal.into_message();
            // Added before it is written, so that the next writer sends it if this future is dropped
            // meanwhile.
            if out.add(&message).is_err() || out.flush().await.is_err() {
                return None;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let mut out = self.writer.lock().await;
        let flushed = out.flush().await;
        out.to = None;
        flushed
    }
}
