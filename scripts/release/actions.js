// Whether each action of the workflows is pinned by the commit of the tag that is named beside it, and which newer
// major versions there are.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where workflows and examples of them are. */
const places = ['.github/workflows', 'man'];

/**
 * @param {string} clone
 * @param {string} host
 * @returns {{ passed: boolean, output: string }}
 */
export function checkActions(clone, host = 'https://github.com') {
  const texts = places.flatMap((place) =>
    readdirSync(join(clone, place)).map((name) => readFileSync(join(clone, place, name), 'utf8')),
  );
  const used = new Set(texts.flatMap((text) => text.match(/[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+/g) ?? []));
  const lines = [...used].sort().map((line) => {
    const [, action = '', hash = '', tag = ''] = /^(.*)@(\S+) # (\S+)$/.exec(line) ?? [];
    return { line, ...compare(tagsOf(`${host}/${action}`), hash, tag) };
  });
  return {
    passed: lines.every(({ wrong }) => !wrong),
    output: lines.map(({ line, text }) => `${line}: ${text}\n`).join(''),
  };
}

/**
 * @param {ReadonlyMap<string, string> | string} tags
 * @param {string} hash
 * @param {string} tag
 */
function compare(tags, hash, tag) {
  // Without a network nothing is known; any other trouble is that of the address.
  if (typeof tags === 'string') {
    const isOffline = tags.includes('unable to access');
    return { wrong: !isOffline, text: `${isOffline ? 'not checked: ' : ''}${tags}` };
  }
  const commit = tags.get(tag);
  if (commit === undefined) return { wrong: true, text: `there is no tag ${tag}` };
  if (commit !== hash) return { wrong: true, text: `${tag} is the commit ${commit}` };
  const majors = [...tags.keys()].map((name) => Number(/^v(\d+)/.exec(name)?.[1] ?? 0));
  const newest = Math.max(...majors);
  return {
    wrong: false,
    text: `v${newest}` === tag.split('.')[0] ? 'is that tag' : `is that tag; there is a v${newest}`,
  };
}

/** The commits of the tags of a repository; why they are not known as text. @param {string} address */
function tagsOf(address) {
  // Its messages are read: in English.
  const env = { ...process.env, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
  const { status, stdout, stderr } = spawnSync('git', ['ls-remote', '--tags', address], { env, encoding: 'utf8' });
  if (status !== 0) return stderr.split('\n').find((line) => line.startsWith('fatal:')) ?? stderr;
  const rows = stdout.trimEnd().split('\n');
  // The line of an annotated tag's commit follows that of the tag, as NAME^{}.
  return new Map(
    rows.map((row) => {
      const [commit = '', ref = ''] = row.split('\t');
      return [ref.replace('refs/tags/', '').replace('^{}', ''), commit];
    }),
  );
}
