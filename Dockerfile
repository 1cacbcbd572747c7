# The built program and Node, without a shell and a package manager: node scripts/package-image.js
#
#     docker run --rm --read-only --tmpfs /tmp --user "$RANDOM:0" --env CHATELAINE_BASE_URL … chatelaine license list
#
# Nothing below / is written but /tmp and the state folder, which has to be on a volume: a container that is killed during a
# request, without one, can leave a second license behind.
# Nothing in this repository looks the digest up; a maintainer does: docker buildx imagetools inspect gcr.io/distroless/nodejs24-debian12
FROM gcr.io/distroless/nodejs24-debian12@sha256:61f4f4341db81820c24ce771b83d202eb6452076f58628cd536cc7d94a10978b
COPY LICENSE package.json /usr/share/chatelaine/
COPY bin /usr/share/chatelaine/bin
COPY dist /usr/share/chatelaine/dist
# Any other user can run it too: no file belongs to this one, and all can be read by everybody.
USER 65532:65532
# A home that is not there: the record is then in /tmp, and commands that create licenses warn and name XDG_STATE_HOME.
ENV HOME=/nonexistent CHATELAINE_NO_CACHE=1
WORKDIR /tmp
ENTRYPOINT ["/nodejs/bin/node", "/usr/share/chatelaine/bin/chatelaine.cjs"]
