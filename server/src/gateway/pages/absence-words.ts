import type { Absence } from '../gateway.ts'
import { exitCodeInWords } from './exit-code.ts'

/** Why a person does not get to an app: absent, blocked, or there but silent. */
export type Why = Absence['absent'] | 'blocked' | 'silent'

/** `start` leads to where it is started, `again` to the same address, `dashboard` there. */
export type Help = 'start' | 'again' | 'dashboard'

export interface AbsenceWords {
  readonly title: string
  /** What happened. */
  readonly what: string
  /** What its owner can do about it. */
  readonly todo: string
  /** The one link that helps its owner, and its text. */
  readonly help: Help
  readonly button: string
}

const filesStay = 'The files in its home folder are kept.'

/** What is said about an app called `name`. @param exitCode its program's, where one is known */
export function absenceWords(why: Why, name: string, exitCode: number | null): AbsenceWords {
  const ended = exitCode === null ? 'Its program ended by itself.' : exitCodeInWords(exitCode)
  const words: Readonly<Record<Why, AbsenceWords>> = {
    asleep: {
      title: `${name} is stopped`,
      what: `It is not running at the moment. ${filesStay}`,
      todo: 'Start it to go on where you were.',
      help: 'start',
      button: 'Start it',
    },
    missing: {
      title: `${name} is not there yet`,
      what: 'It was never started, or it was removed.',
      todo: 'Starting makes a new one. If it had a home folder, its files come back.',
      help: 'start',
      button: 'Start it',
    },
    crashed: {
      title: `${name} has ended`,
      what: `${ended} ${filesStay}`,
      todo: 'Start it again. If it ends again, what it wrote last may say why.',
      help: 'start',
      button: 'Start it again',
    },
    'out-of-memory': {
      title: `${name} ran out of memory`,
      what: `It needed more memory than it may use, so it was ended${exitCode === null ? '' : ` (exit code ${exitCode})`}. ${filesStay}`,
      todo: 'Start it again and do less at a time, or ask your administrator for more memory.',
      help: 'start',
      button: 'Start it again',
    },
    'no-image': {
      title: `${name} has nothing to start from`,
      what: 'Its image is not on this server and could not be fetched.',
      todo: 'Ask your administrator to provide it, then try again.',
      help: 'start',
      button: 'Try again',
    },
    failed: {
      title: `${name} could not be started`,
      what: `Starting it did not work. ${exitCode === null ? '' : `${exitCodeInWords(exitCode)} `}${filesStay}`,
      todo: 'Try again. If that does not help, ask your administrator.',
      help: 'start',
      button: 'Try again',
    },
    unknown: {
      title: `${name} cannot be reached`,
      what: 'The container engine does not answer, so nobody can tell how it is. Nothing is lost.',
      todo: 'Try again in a moment. If this lasts, tell your administrator.',
      help: 'again',
      button: 'Try again',
    },
    silent: {
      title: `${name} does not answer`,
      what: 'It is running, but the app in it does not answer. It may still be starting.',
      todo: 'Try again in a moment. If this lasts, restart it from the dashboard.',
      help: 'again',
      button: 'Try again',
    },
    blocked: {
      title: `${name} is blocked`,
      what: `An administrator has blocked it, so it cannot be used or started. ${filesStay}`,
      todo: 'Ask your administrator why, and what has to happen to lift the block.',
      help: 'dashboard',
      button: 'Open the dashboard',
    },
  }
  return words[why]
}

/** What others than its owner can do, in place of what the owner can: they may use it, but not start it. */
export const todoForOthers: Readonly<Record<Help, string>> = {
  start: 'Only its owner can start it. Ask them, then try again.',
  again: 'Try again in a moment. If this lasts, tell its owner.',
  dashboard: 'Its owner can ask the administrator why.',
}
