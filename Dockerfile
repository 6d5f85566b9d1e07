# docker build -t local-agent . && docker run --rm -v "$HOME/notes:/notes:ro" -v local-agent-state:/state local-agent try /notes "a question"
FROM rust:1-bookworm AS build
WORKDIR /source
COPY . .
ARG LOCAL_AGENT_COMMIT=""
ENV LOCAL_AGENT_COMMIT=$LOCAL_AGENT_COMMIT
RUN cargo build --locked --profile dist --features pdf --bin local-agent

FROM debian:bookworm-slim
COPY --from=build /source/target/dist/local-agent /usr/local/bin/local-agent
COPY --from=build /source/LICENSE-APACHE /source/LICENSE-MIT /source/NOTICE /usr/share/doc/local-agent/
COPY --from=build /source/models/all-MiniLM-L6-v2/NOTICE /usr/share/doc/local-agent/models/all-MiniLM-L6-v2/
COPY --from=build /source/models/multilingual-e5-small/NOTICE /usr/share/doc/local-agent/models/multilingual-e5-small/
# Nothing runs as root; state, cache and configuration stand in one volume.
RUN useradd --create-home --home-dir /state --uid 1000 agent
USER agent
ENV HOME=/state
VOLUME /state
WORKDIR /notes
ENTRYPOINT ["local-agent"]
CMD ["--help"]
