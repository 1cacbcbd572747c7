import { momentText } from '../core/moment.ts';
import { asObject, rulesOf, showsMessages } from './columns.ts';
import type { Presentation } from './presentation.ts';

/** Reads a value for people: dates in local time, messages as plain text; undefined: the value itself. */
export type PeopleReader = (value: unknown, column: string, row: unknown) => string | undefined;

export async function peopleReader({ show, zoneMark = () => '' }: Presentation): Promise<PeopleReader> {
  const messageText = showsMessages(show) ? (await import('./messages/conversation.ts')).messageText() : undefined;
  return (value, column, row) => {
    const { as: shape, keep } = rulesOf(show, column) ?? {};
    if (shape === 'message' && messageText) return messageText(asObject(row, show) ?? {});
    const moment = keep === 'whole' ? undefined : momentOf(value, shape);
    // As `2026-03-01 13:05`; a formatter would take 10 ms to make.
    return moment && `${momentText(moment.getTime()).slice(0, 16).replace('T', ' ')}${zoneMark()}`;
  };
}

/** The moment of a text of RFC 3339 with time and offset, or of seconds; undefined for any other value. */
function momentOf(value: unknown, shape: string | undefined): Date | undefined {
  const seconds = shape === 'seconds' && typeof value === 'number' ? value * 1000 : NaN;
  const date = new Date(typeof value === 'string' && rfc3339.test(value) ? value : seconds);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
