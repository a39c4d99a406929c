import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { databaseClock } from '@berth/server/store/check-store.ts'
import type { CheckContext, Finding } from './check.ts'

/** Difference that is a finding, in ms: tokens and links of 15 minutes bear more, but it grows. */
const maxDifference = 5_000
const timeout = 3_000

/**
 * Whether the clock is right: beside those of the engine, of PostgreSQL and of the front end's proxy, and by what the kernel
 * says of NTP. One that cannot be asked is a finding of another check.
 */
export async function checkClock(
  { config, engine, addresses, now }: CheckContext,
  signal: AbortSignal,
): Promise<Finding[]> {
  const began = performance.now()
  const read = (of: string, time: Promise<Date | null>) =>
    time.then(
      (read) => ({ of, time: read, at: performance.now() }),
      () => undefined,
    )
  const { databaseUrl } = config
  const readings = await Promise.all([
    read(
      'the engine',
      engine.report().then(({ time }) => time),
    ),
    ...(databaseUrl === null ? [] : [read('the database', databaseClock(databaseUrl))]),
    read(addresses.frontendUrl, dateOf(addresses.frontendUrl, signal)),
  ])
  const apart = readings.flatMap((reading) => {
    if (!reading?.time) return []
    const difference = reading.time.getTime() - (now.getTime() + reading.at - began)
    return Math.abs(difference) > maxDifference ? [differs(reading.of, difference)] : []
  })
  return [...apart, ...((await isSynchronized()) === false ? [notSynchronized] : [])]
}

/** `Date` of an answer (RFC 9110, 6.6.1), with a resolution of a second; null when there is none. */
async function dateOf(url: string, signal: AbortSignal): Promise<Date | null> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
  try {
    const response = await fetch(`${url}/healthz`, { method: 'HEAD', redirect: 'manual', signal: limit })
    const date = new Date(response.headers.get('date') ?? '')
    return Number.isNaN(date.getTime()) ? null : date
  } catch {
    return null
  }
}

/** Whether any time service keeps the clock; undefined where nothing says. */
async function isSynchronized(): Promise<boolean | undefined> {
  const words = ['show', '--property=NTPSynchronized', '--value']
  try {
    const { stdout } = await promisify(execFile)('timedatectl', words, { timeout })
    return stdout.trim() === '' ? undefined : stdout.trim() === 'yes'
  } catch {
    return undefined
  }
}

const differs = (other: string, ms: number): Finding => ({
  level: 'warning',
  what: `The clock is ${Math.round(Math.abs(ms) / 1_000)} s ${ms > 0 ? 'behind' : 'ahead of'} that of ${other}: links and sessions end too early or too late.`,
  fix: 'timedatectl set-ntp true, on both machines',
})

const notSynchronized: Finding = {
  level: 'warning',
  what: 'No time service keeps the clock: links, sessions and sign-ins by OpenID Connect fail when it is off.',
  fix: 'apt-get install systemd-timesyncd && timedatectl set-ntp true',
}
