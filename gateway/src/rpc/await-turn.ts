import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { RemoteGateway } from './remote-gateway.ts'

/** In ms: a gateway without an API process answers sooner. */
const usualAnswer = 500

export interface Turn {
  /** Another process serves until this one says that it is loaded. */
  readonly isReplacement: boolean
  /** Makes the start that follows, and first answers, quicker, until it is not wanted because that begins. A failure is logged. */
  readonly warmUp: (isWanted: () => boolean) => Promise<void>
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** In ms, for tests. */
  readonly answersWithin?: number
}

/**
 * Notifies the gateway that this process is loaded. Resolves when store and engine are its to use. Where another process serves
 * meanwhile, the start is prepared in that time, and less of it is left for the time when none serves; where none does, this
 * process starts at once.
 * @returns whether another process served until now
 */
export async function awaitTurn(
  gateway: Pick<RemoteGateway, 'awaitStart'>,
  { isReplacement, warmUp, log, answersWithin = usualAnswer }: Turn,
): Promise<boolean> {
  let hasStarted = false
  const prepare = () =>
    warmUp(() => !hasStarted).catch((error: unknown) => log.warn({ err: error }, 'the start was not prepared'))
  if (isReplacement) await prepare()
  const started = gateway.awaitStart().then(() => (hasStarted = true))
  // Two services: an administrator or a service manager ends the other one later.
  if (isReplacement) return started
  if (await Promise.race([started, sleep(answersWithin, false)])) return false
  log.info('another API process serves; this one takes its place when that ends')
  await prepare()
  return started
}
