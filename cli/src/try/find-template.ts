import type { ImageProgram } from '@berth/server/engines/trial-engine.ts'
import type { Attempt } from './try-template.ts'
import {
  candidatesForPrefix,
  catalogueCandidate,
  listeningEverywhere,
  withFewerVariables,
  type Candidate,
} from './next-fields.ts'
import type { Fields } from './try-installation.ts'

/** Outcome for an image or a template. */
export interface TrialResult {
  /** The first is the template as given. */
  readonly attempts: readonly Attempt[]
  /** The simplest template that was tried and works; null when none does. */
  readonly proposal: Attempt | null
}

/** Corrections of port, address, first page and headers that may be needed one after the other. */
const maxCorrections = 4

/**
 * Tries the template as given; while it breaks, others that may mend what was found, until one works.
 * @param attempt tries one @param onAttempt called after each
 */
export async function findTemplate(
  given: Fields,
  program: ImageProgram,
  attempt: (candidate: Candidate) => Promise<Attempt>,
  onAttempt: (attempt: Attempt) => void,
): Promise<TrialResult> {
  const attempts: Attempt[] = []
  const run = async (candidate: Candidate) => {
    const tried = await attempt(candidate)
    attempts.push(tried)
    onAttempt(tried)
    return tried
  }
  const first = await run({ change: 'as given', fields: given, routing: 'path' })
  const known = first.works ? undefined : catalogueCandidate(given, program)
  const asKnown = known && !isSame(known.fields, given) ? await run(known) : undefined
  if (asKnown?.works) return { attempts, proposal: asKnown }
  let last = first
  for (let count = 0; count < maxCorrections && !last.works; count += 1) {
    const correction = correctionOf(last, attempts)
    if (!correction) break
    last = await run(correction)
  }
  if (last.works) return { attempts, proposal: last }
  if (last.startedAfter === null) return { attempts, proposal: null }
  for (const candidate of candidatesForPrefix(last.fields, program)) {
    const tried = await run(candidate)
    if (tried.works) return { attempts, proposal: await simplest(tried, last.fields, program, run) }
  }
  return { attempts, proposal: null }
}

/** What an attempt itself says how to correct; each correction is tried once. */
function correctionOf(last: Attempt, attempts: readonly Attempt[]): Candidate | undefined {
  const { fields, otherPort, otherOpenPath, startedAfter, findings } = last
  const corrections: (Candidate | false)[] = [
    otherPort !== null && { change: `port: ${otherPort}`, fields: { ...fields, port: otherPort }, routing: 'path' },
    startedAfter === null && listeningEverywhere(fields),
    otherOpenPath !== null && {
      change: `open_path: ${otherOpenPath}`,
      fields: { ...fields, open_path: otherOpenPath },
      routing: 'path',
    },
    findings.some(({ kind }) => kind === 'isolation') && {
      change: 'allow_headers: [cross-origin-opener-policy]',
      fields: { ...fields, allow_headers: ['cross-origin-opener-policy'] },
      routing: 'path',
    },
  ]
  return corrections.find((each) => each && !attempts.some(({ change }) => change === each.change)) || undefined
}

const isSame = (a: Fields, b: Fields) => JSON.stringify(a) === JSON.stringify(b)

/** Of several variables one may be enough. */
async function simplest(
  found: Attempt,
  given: Fields,
  program: ImageProgram,
  run: (candidate: Candidate) => Promise<Attempt>,
): Promise<Attempt> {
  for (const candidate of withFewerVariables(found, given, program)) {
    const tried = await run(candidate)
    if (tried.works) return tried
  }
  return found
}
