/** Writes moments in the reader's own time, as `2026-03-01 13:05`; the zone is an IANA name, the system's own where undefined. */
export function localMoments(timeZone: string | undefined): (date: Date) => string {
  return timeZone === undefined ? ownMoment : momentsIn(timeZone);
}

/** In the system's own zone, which a Date knows: without the 10 ms that a formatter takes to be made. */
function ownMoment(date: Date): string {
  const year = String(date.getFullYear()).padStart(4, '0');
  const day = `${year}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

function twoDigits(part: number): string {
  return part < 10 ? `0${part}` : String(part);
}

function momentsIn(timeZone: string): (date: Date) => string {
  const format = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  });
  return (date) => {
    const parts = new Map(format.formatToParts(date).map(({ type, value }) => [type, value]));
    const [year, month, day, hour, minute] = (['year', 'month', 'day', 'hour', 'minute'] as const).map((type) =>
      parts.get(type),
    );
    return `${year}-${month}-${day} ${hour}:${minute}`;
  };
}

/** The moment that a text says as RFC 3339 does, with a time and its offset; undefined for any other text. */
export function momentIn(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
