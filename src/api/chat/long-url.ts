import { Failure, usage } from '../../core/failure.ts';
import { jsonIn } from '../../core/json.ts';
import { maxRequestLine } from '../../schema/messages.ts';
import type { Call, Send } from '../http/call.ts';
import { queryOf } from '../http/request.ts';
import { partsOf } from './narrow-words.ts';

/** Calls whose URL servers do not take are refused, by their own answer too, naming what is long in it. */
export function withinUrl(send: Send): Send {
  return async (call) => {
    const bytes = call.path.sent.length + queryOf(call).length;
    if (bytes > maxRequestLine) throw usage(tooLong(call, bytes), `Servers accept ${maxRequestLine} bytes.`);
    const answer = await send(call);
    if (answer.status !== 414) return answer;
    const http = { ...answer.http, url: answer.http.url.replace(/\?.*/s, '') };
    throw new Failure('rejected', tooLong(call, bytes), { http });
  };
}

function tooLong(call: Call, bytes: number): string {
  const [name, text] = longestPart(call);
  return `the URL of the request has ${bytes} bytes, too many for the server: ${name} has ${text.length} characters`;
}

/** The path, a parameter, or a term of a narrow by its operator. */
function longestPart({ path, query = [] }: Call): readonly [name: string, text: string] {
  const parts = query.flatMap(([name, text]): (readonly [unknown, unknown])[] => {
    const terms = name === 'narrow' ? jsonIn(String(text))?.value : undefined;
    return Array.isArray(terms) ? terms.map(partsOf) : [[name, text]];
  });
  const all = [['path', path.sent], ...parts].map(([name, text]) => [String(name), String(text)] as const);
  return all.reduce((longest, part) => (part[1].length > longest[1].length ? part : longest));
}
