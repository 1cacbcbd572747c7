import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validateAction, validateWorkflow } from '@action-validator/core';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

/** The machines of GitHub are not here: the files are validated by its schema, and held to our own rules. */

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
type Permissions = Readonly<Record<string, string>>;
interface Job {
  readonly permissions?: Permissions;
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly permissions?: Permissions;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = '.github/workflows';
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: Record<string, string> };
const workflows = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name), 'utf8');
  return { name, text, workflow: parse(text) as Workflow };
});

test('the action that installs a release is one', () => {
  expect(validateAction(readFileSync('action.yml', 'utf8'))).toEqual({ actionType: 'action', errors: [] });
});

test('the tests run on every Node that is supported, and on other systems', () => {
  const jobs = workflows.find(({ name }) => name === 'test.yml')?.workflow.jobs ?? {};
  expect(jobs['linux']?.strategy?.matrix).toEqual({ node: ['20', '22', '24', '26'] });
  expect(jobs['others']?.strategy?.matrix['os']?.map((os) => os.split('-')[0])).toEqual(['macos', 'windows']);
});

test('only the jobs that publish may write, and they run nothing of the packages that were installed', () => {
  const granted = workflows.flatMap(({ workflow }) =>
    [workflow, ...Object.values(workflow.jobs)].map(({ permissions }) => permissions),
  );
  expect(workflows.filter(({ workflow }) => workflow.permissions === undefined)).toEqual([]);
  expect(granted.filter((permissions) => permissions !== undefined)).toEqual([
    {},
    { contents: 'read' },
    { contents: 'read' },
    { contents: 'read', 'id-token': 'write', attestations: 'write' },
    { contents: 'write' },
    { contents: 'read' },
  ]);
  const { publish, page } = workflows.find(({ name }) => name === 'release.yml')?.workflow.jobs ?? {};
  const linesOf = (job: Job | undefined) => job?.steps.flatMap(({ run }) => run ?? []);
  expect([linesOf(publish), linesOf(page)]).toEqual([
    ['node scripts/release/publish.js'],
    ['node scripts/release/page.js'],
  ]);
});

describe.each(workflows)('$name', ({ text, workflow }) => {
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  test('is a workflow', () => {
    // The schema of this version of the validator is older than that permission.
    expect(validateWorkflow(text.replace(/^ *attestations: write$/m, ''))).toEqual({
      actionType: 'workflow',
      errors: [],
    });
  });

  test('pins each action by the hash of a commit, and says which version that is', () => {
    const used = [...text.matchAll(/uses: (.*)$/gm)].map(([, action]) => action);
    expect(used).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    expect(used.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action ?? ''))).toEqual([]);
  });

  test('runs scripts of package.json, files of scripts/, and nothing else', () => {
    const lines = steps.flatMap(({ run }) => run ?? []);
    const others = lines.filter((line) => {
      const [, script = ''] = /^npm (?:run )?([\w:]+)$/.exec(line) ?? [];
      const [, file = ''] =
        /^node (scripts\/[\w/-]+\.js)(?: (?:[\w."$ -]+|\$\{\{ matrix\.\w+ \}\}))?$/.exec(line) ?? [];
      return line !== 'npm ci' && scripts[script] === undefined && (file === '' || !existsSync(file));
    });
    expect(others).toEqual([]);
  });

  test('gives no token to what it checks out, and ends by itself', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.map((step) => step.with?.['persist-credentials'])).toEqual(jobs.map(() => false));
    expect(jobs.filter((job) => job['timeout-minutes'] === undefined)).toEqual([]);
  });
});
