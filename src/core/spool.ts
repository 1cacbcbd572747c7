/** Bytes that are too many to be held in memory, kept until they have been read. */
export interface Spool {
  write(bytes: Uint8Array): Promise<void>;
  /** All that was written, from the beginning each time. */
  read(): AsyncIterable<Uint8Array>;
  /** Forgets it. */
  close(): Promise<void>;
}
