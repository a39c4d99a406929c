import type { Logger } from 'pino'
import { openTrialInstallation, type RequestOptions, type TrialUser } from '#/try/trial-installation.ts'
import type { Config } from '@berth/server/config/config.ts'
import { Templates, type Template } from '@berth/server/templates/template.ts'
import type { HostReport } from '@berth/server/engines/runtime.ts'
import type { RunningContainer } from '@berth/server/engines/trial-engine.ts'
import { attackImage, hostileCommand } from './attack-image.ts'

/** A user of the installation, signed in. */
export interface AttackUser {
  readonly token: string
  /** Prefix of the container: `/mallory-attack`. */
  readonly prefix: string
}

/** A second Berth in this process, with the operator's settings and template, and two users. */
export interface AttackInstallation {
  /** Settings of the operator. */
  readonly config: Config
  /** Template that the containers are made from. */
  readonly template: Template
  /** `http://127.0.0.1:{port}` */
  readonly url: string
  /** Has the hostile container. */
  readonly attacker: AttackUser
  /** Is an administrator, and has a container, too. */
  readonly victim: AttackUser
  /** Running containers of this and every other installation, without the hostile one. */
  neighbours(): Promise<RunningContainer[]>
  host(): Promise<HostReport>
  /** A request with the cookie of a token; redirects are not followed. */
  fetch(target: string, token: string | null, options?: RequestOptions): Promise<Response>
  /** Has the hostile program do something. @returns its answer @throws when it does not answer */
  order<T>(order: object, signal: AbortSignal): Promise<T>
  /** Removes everything. @throws what could not be removed */
  close(): Promise<void>
}

const type = 'attack'
const port = 8080

/**
 * Starts it: image, store, API, gateway on the loopback interface, two users with a running container each.
 * @param template of the operator; image, command and port are replaced
 * @throws what fails; nothing is left then
 */
export async function openAttackInstallation(
  config: Config,
  template: Template,
  log: Logger,
  signal: AbortSignal,
): Promise<AttackInstallation> {
  // For everyone: the groups of the installation are in its own store, and this one has none.
  const hostile = { ...template, type, command: hostileCommand, port, groups: [] }
  const settings = (image: string): Partial<Config> => ({
    // What is tried at the origin is about the one that all containers share.
    containerRouting: 'path',
    templates: new Templates([{ ...hostile, image }]),
  })
  const trial = await openTrialInstallation({ purpose: type, config, settings, archive: attackImage }, log, signal)
  const { app, engine, runtime, fetch, close } = trial
  try {
    const user = ({ token, slug }: TrialUser): AttackUser => ({ token, prefix: `/${slug}-${type}` })
    // The first user is an administrator.
    const victim = user(await trial.signUp('alice'))
    const attacker = user(await trial.signUp('mallory'))
    const own = (await runtime.list()).find(({ owner }) => owner?.slug === 'mallory')?.address
    const order = async <T>(given: object, until: AbortSignal) => {
      const target = `${attacker.prefix}/order?order=${Buffer.from(JSON.stringify(given)).toString('base64url')}`
      const response = await Promise.race([fetch(target, attacker.token), rejectionBy(until)])
      if (response.status !== 200) throw new Error(`the hostile container answers ${response.status}`)
      return (await response.json()) as T
    }
    const neighbours = async () => (await engine.running()).filter(({ address }) => address !== own)
    await order({ verb: 'describe' }, signal)
    const url = `http://127.0.0.1:${app.port}`
    const users = { attacker, victim }
    const asked = { neighbours, order, fetch, host: () => runtime.host() }
    return { config, template: hostile, url, ...users, ...asked, close }
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}

function rejectionBy(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  if (signal.aborted) reject(signal.reason as Error)
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  promise.catch(() => undefined)
  return promise
}
