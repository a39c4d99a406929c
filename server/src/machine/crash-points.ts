import { readFileSync, rmSync } from 'node:fs'

/**
 * Fault injection: named crash points at which tests make the process die. They cost one comparison unless
 * armed, and only the program file arms them.
 */
export const crashPoints = [
  'launch.before-record',
  'launch.after-record',
  'launch.after-create',
  'launch.after-id',
  'launch.after-start',
  'launch.before-answer',
  'restart.after-stop',
  'restart.after-remove',
  'signup.after-user',
  'signup.after-mail',
  'login.after-token',
  'verify.after-consume',
  'verify.before-answer',
  'block.after-store',
  'block.after-stop',
  'bulk-block.in-between',
  'delete.after-store',
  'delete.after-stop',
  'delete.after-remove',
  'term-end.after-store',
  'term-end.after-archive',
  'term-end.after-mail',
  'term-end.after-removal',
  'home-snapshot.in-archive',
  'archive.before-name',
  'home-snapshot.after-write',
  'home-restore.after-note',
  'home-restore.in-archive',
  'home-restore.after-add',
  'home-reset.after-snapshot',
  'home-reset.after-remove',
] as const

export type CrashPoint = (typeof crashPoints)[number]

/** Crash points of commands that work on files; they have no service that goes on. */
export const commandCrashPoints = [
  'backup.after-store',
  'backup.after-home',
  'backup.before-name',
  'restore.in-home',
  'restore.after-mark',
  'restore.after-aside',
  'restore.after-store',
] as const

export type CommandCrashPoint = (typeof commandCrashPoints)[number]

/** Crash points of builds, which chaos of launches does not ask for. */
export const buildCrashPoints = [
  'build.after-store',
  'build.after-begin',
  'build.after-image',
  'build.after-end',
  'build.after-publish',
  'try.after-store',
  'try.after-end',
] as const

export type BuildCrashPoint = (typeof buildCrashPoints)[number]

/** Which processes die: this one, or the gateway process before it, so that no supervisor starts another. */
export type CrashScope = 'api' | 'all'

interface Order {
  readonly point: string
  readonly scope: CrashScope
}

let orders: string | undefined

/**
 * @param file names the point at which the process removes the file and dies by SIGKILL; with ` all` behind the name,
 * the process that started it dies first
 */
export function armCrashPoints(file: string): void {
  orders = file
}

/** A step was reached. */
export function crashPoint(point: CrashPoint | CommandCrashPoint | BuildCrashPoint): void {
  if (orders === undefined) return
  const order = readOrder(orders)
  if (order?.point !== point) return
  rmSync(orders, { force: true })
  if (order.scope === 'all') process.kill(process.ppid, 'SIGKILL')
  process.kill(process.pid, 'SIGKILL')
}

function readOrder(file: string): Order | undefined {
  try {
    const [point = '', scope] = readFileSync(file, 'utf8').trim().split(' ')
    return { point, scope: scope === 'all' ? 'all' : 'api' }
  } catch {
    return undefined
  }
}
