/**
 * What `npm run test:cluster` runs, the most important first: CI leaves out what comes last when its time is over.
 * @typedef {object} Part
 * @property {string} name
 * @property {readonly string[]} files
 * @property {number} seconds how long it takes on two cores without other work
 * @property {number} [testLimit] in seconds, for each test; 300 without it
 * @property {boolean} [isOwn] needs the cluster that is made here
 * @property {boolean} [needsRelease] needs an image of a release
 * @property {Readonly<Record<string, string>>} [env]
 */

const onCluster = (/** @type {string[]} */ ...names) => names.map((name) => `server/test/cluster/${name}.ts`)

/** @type {readonly Part[]} */
export const parts = [
  {
    name: 'contract of the engine port',
    // On Docker they run in `npm test`.
    files: ['runtimes', 'runtime-output', 'runtime-lifecycle'].map((name) => `server/test/engine/${name}.test.ts`),
    seconds: 40,
  },
  {
    name: 'main journey in Chromium',
    files: ['server/test/journeys/new-user.test.ts'],
    seconds: 40,
    // It needs the demo images on the nodes.
    isOwn: true,
  },
  {
    name: 'Berth on a cluster',
    files: onCluster(
      'pods',
      'environments',
      'placement',
      'homes',
      'shared-homes',
      'rights',
      'isolation',
      'installation',
      'operator',
      'ssh',
      'use',
    ),
    seconds: 320,
  },
  {
    name: 'containers under policies that are enforced',
    // Skipped where the network enforces none.
    files: onCluster('enforced', 'trial-of-start'),
    seconds: 5,
  },
  { name: 'faults of the cluster', files: onCluster('faults'), seconds: 170, isOwn: true },
  {
    name: 'gateways of two nodes',
    files: ['server/test/nodes/oracle-of-nodes.test.ts'],
    seconds: 75,
    env: { BERTH_TEST_ORACLE_REQUESTS: '200000' },
  },
  {
    name: 'faults of two nodes',
    files: ['server/test/nodes/faults/seeded.ts'],
    seconds: 260,
    // One test that lasts as long as its plan.
    testLimit: 900,
  },
  {
    name: 'Berth as pods',
    files: onCluster('in-cluster', 'nodes-in-cluster'),
    // 160 for the tests, and the image of a release.
    seconds: 240,
    isOwn: true,
    needsRelease: true,
  },
]

/**
 * @param {readonly string[]} words of paths; none: all
 * @param {{ isOwn: boolean }} run whether the cluster is made here
 * @returns {Part[]} parts with a file to run
 */
export const choose = (words, { isOwn }) =>
  parts
    .filter((part) => isOwn || !part.isOwn)
    .map((part) => ({
      ...part,
      files: part.files.filter((file) => words.length === 0 || words.some((word) => file.includes(word))),
    }))
    .filter(({ files }) => files.length > 0)
