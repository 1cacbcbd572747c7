import { onTestFinished } from 'vitest';

/** The time zone of this process until the test ends. */
export function inZone(zone: string): void {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  onTestFinished(() => {
    process.env['TZ'] = before;
  });
}
