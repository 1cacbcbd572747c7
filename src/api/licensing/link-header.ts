/** One link of the header (RFC 8288): a URL in angle brackets, and parameters, whose quoted values may hold commas. */
const oneLink = /<([^>]*)>((?:\s*;\s*[^\s=;,"'<>]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s;,"'<>]*))?)*)/g;
const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']*))/i;

/** The URLs that a Link header names as next page. */
export function linkedNext(header: string | readonly string[] | undefined): string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  return [...text.matchAll(oneLink)].flatMap(([, url = '', parameters = '']) => {
    const [, double, single, bare] = relation.exec(parameters) ?? [];
    const names = (double ?? single ?? bare ?? '').toLowerCase().split(/\s+/);
    return names.includes('next') ? [url] : [];
  });
}
