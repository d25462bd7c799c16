# What make dist packs, in an image that has what its tests need:
#   make dist && docker build -t miglab . && docker run --rm miglab miglab reproduce --quick
FROM golang:1.26.8-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends \
    coinor-cbc=2.10.8+ds1-1 make=4.3-4.1 python3=3.11.2-1+b1 python3-numpy=1:1.24.2-1+deb12u1 && \
    rm -rf /var/lib/apt/lists/*
ARG VERSION=0.1.0
ADD bin/miglab-${VERSION}.tar.gz /src/
WORKDIR /src/miglab-${VERSION}
ENV GOFLAGS=-mod=vendor GOPROXY=off GOTOOLCHAIN=local PATH=/src/miglab-${VERSION}/bin:${PATH}
RUN --network=none make build
CMD ["bash"]
