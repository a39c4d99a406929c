/**
 * `npm run test:cluster`: the contract of the runtime port, and Berth itself, on a cluster: the one of `KUBECONFIG`, or one that
 * is made on this machine and taken down afterwards. `KEEP_CLUSTER=1` leaves it running for the next run; words choose files.
 *
 * With `--or-skip`, as CI runs it, a machine that cannot have the cluster is no failure but one line that begins with `skipped:`, and
 * what begins too late for `BERTH_TESTS_END` (in seconds since 1970) is left out with such a line. A part whose tests fail twice is a failure always.
 */
import { join, resolve } from 'node:path'
import { argv, env, exit } from 'node:process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createSetupContext } from '../setup/setup-context.mjs'
import { readCounts, writeCounts } from '../test-run/counts.mjs'
import { runLimited } from './limited.mjs'
import { makeCluster } from './make-cluster.mjs'
import { choose } from './parts.mjs'
import { makeReleaseImage, removeImage } from './release-image.mjs'
import { runPart } from './run-part.mjs'

const root = resolve(import.meta.dirname, '../..')
const isOwn = !env.KUBECONFIG
const maySkip = argv.includes('--or-skip')
const words = argv.slice(2).filter((word) => !word.startsWith('-'))

/** In s: without a limit at most an hour. */
const usualTime = 3600
const end = maySkip && env.BERTH_TESTS_END ? Number(env.BERTH_TESTS_END) : Date.now() / 1000 + usualTime
const remaining = () => end - Date.now() / 1000

/** A part that begins has this many times as long as it takes on a machine without other work. */
const timeFactor = 1.5
/** In s: for the end of the cluster. */
const takingDown = 60

const stop = new AbortController()
// An interrupt ends the tests; the cluster is taken down after them.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop.abort())

exit(await main())

/** @returns {Promise<number>} the exit code */
async function main() {
  const counts = env.BERTH_TEST_COUNTS ?? mkdtempSync(join(tmpdir(), 'berth-counts-'))
  try {
    const made = await cluster()
    if ('reason' in made) return skip(made.reason)
    const isPassed = await runParts(made.kubeconfig, counts)
    if (env.BERTH_TEST_COUNTS === undefined) {
      const { passed, failed } = readCounts(counts)
      console.log(`${passed} passed, ${failed} failed`)
    }
    return isPassed ? 0 : 1
  } finally {
    if (isOwn && !env.KEEP_CLUSTER) await runLimited(join(import.meta.dirname, 'down.sh'), [], takingDown * 2)
    if (env.BERTH_TEST_COUNTS === undefined) rmSync(counts, { recursive: true })
  }
}

/** @returns {ReturnType<typeof makeCluster>} */
async function cluster() {
  if (env.KUBECONFIG) return { kubeconfig: env.KUBECONFIG }
  // Without time for any test no cluster is made.
  const [first] = choose(words, { isOwn })
  const needed = (first?.seconds ?? 0) * timeFactor + takingDown
  if (remaining() < needed) return { reason: 'no time is left for it' }
  try {
    return await makeCluster(createSetupContext(root, env), () => remaining() - needed)
  } catch (error) {
    return { reason: String(error) }
  }
}

/** @param {string} reason @returns {number} the exit code */
function skip(reason) {
  console.log(`${maySkip ? 'skipped' : 'failed'}: the cluster: ${reason.slice(0, 500)}`)
  return maySkip ? 0 : 1
}

/**
 * @param {string} kubeconfig
 * @param {string} counts folder
 * @returns {Promise<boolean>} whether none failed
 */
async function runParts(kubeconfig, counts) {
  mkdirSync(counts, { recursive: true })
  const settings = { BERTH_TEST_CLUSTER: kubeconfig, ...(isOwn ? { BERTH_TEST_CLUSTER_IS_OWN: '1' } : {}) }
  let isPassed = true
  for (const part of choose(words, { isOwn })) {
    if (stop.signal.aborted) return false
    const left = remaining() - takingDown
    if (left < part.seconds * timeFactor) {
      console.log(`skipped: ${part.name}: it takes ${part.seconds} s, and ${Math.max(0, Math.round(left))} s are left`)
      continue
    }
    console.log(`\n${part.name}`)
    const release = part.needsRelease ? await releases() : {}
    const ending = await runPatiently(part, { ...settings, ...release }, counts)
    if (ending === 'out of time' && maySkip) console.log(`skipped: the rest of ${part.name}: no time is left for it`)
    else if (ending !== 'passed') isPassed = false
    await removeReleases(release)
    // The last lines of CI are those of what failed.
    if (!isPassed && maySkip) return false
  }
  return isPassed
}

/**
 * Runs a part; in CI one that failed is run once more, when there is time, and says so: a machine that does other work
 * for a minute makes tests late that stop nodes, and would refuse a change that has nothing to do with it.
 * @param {import('./parts.mjs').Part} part
 * @param {Readonly<Record<string, string>>} settings
 * @param {string} counts folder for the counts of the run that decides
 * @returns {ReturnType<typeof runPart>}
 */
async function runPatiently(part, settings, counts) {
  const left = () => remaining() - takingDown
  for (let [isLast, isAgain] = [!maySkip, false]; ; [isLast, isAgain] = [true, true]) {
    const own = mkdtempSync(join(tmpdir(), 'berth-counts-'))
    const ending = await runPart(root, part, settings, { counts: own, left, stop: stop.signal })
    const isRepeated = ending === 'failed' && !isLast && !stop.signal.aborted && left() >= part.seconds * timeFactor
    if (!isRepeated) for (const name of readdirSync(own)) copyFileSync(join(own, name), join(counts, name))
    rmSync(own, { recursive: true })
    if (isAgain && ending === 'passed') writeCounts(counts, { passed: 0, failed: 0 }, [part.name])
    if (!isRepeated) return ending
    console.log(`\nrepeated, because it failed: ${part.name}`)
  }
}

/** @returns {Promise<{ BERTH_TEST_RELEASES?: string }>} names of images of releases: those that the caller has, or one of the files as they are */
async function releases() {
  if (env.BERTH_TEST_RELEASES) return { BERTH_TEST_RELEASES: env.BERTH_TEST_RELEASES }
  const made = await makeReleaseImage(root)
  if ('image' in made) return { BERTH_TEST_RELEASES: made.image }
  if (!maySkip) throw new Error(made.reason)
  console.log(`skipped: ${made.reason.slice(0, 500)}`)
  return {}
}

/** @param {{ BERTH_TEST_RELEASES?: string }} made */
async function removeReleases({ BERTH_TEST_RELEASES: image }) {
  if (image !== undefined && !env.BERTH_TEST_RELEASES) await removeImage(image)
}
