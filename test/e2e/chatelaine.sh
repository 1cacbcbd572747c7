#!/bin/sh
exec "$NODE" "$PROGRAM" "$@"
