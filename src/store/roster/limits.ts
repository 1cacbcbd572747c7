/** How much of a roster is read: a broken or hostile file must not fill the memory. */
export interface RosterLimits {
  readonly fileBytes: number;
  /** A row of CSV with more is most likely one with a quote that is never closed. */
  readonly recordBytes: number;
  readonly badRows: number;
  /** Of one file in a workbook: a small archive may unpack to a thousand times its size. */
  readonly partBytes: number;
}

const mebibyte = 1024 * 1024;

export const rosterLimits: RosterLimits = {
  fileBytes: 64 * mebibyte,
  recordBytes: mebibyte,
  badRows: 10_000,
  partBytes: 128 * mebibyte,
};

export function mebibytes(bytes: number): string {
  return `${bytes / mebibyte} MiB`;
}
