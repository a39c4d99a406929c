import { answers } from '#/en/answers.ts'
import { environments } from '#/en/environments.ts'
import { findings } from '#/en/findings.ts'
import { faults, gateway, pages } from '#/en/gateway.ts'
import { groups, termEnd } from '#/en/groups.ts'
import { launches } from '#/en/launches.ts'
import { mails } from '#/en/mails.ts'
import { refusals } from '#/en/refusals.ts'
import { requests } from '#/en/requests.ts'
import { sharing } from '#/en/sharing.ts'
import { snapshots } from '#/en/snapshots.ts'
import { ssh } from '#/en/ssh.ts'
import { warnings } from '#/en/warnings.ts'
import { words } from '#/en/words.ts'

/** Every message in English: ICU text by area and key. */
export const en = {
  answers,
  environments,
  faults,
  findings,
  gateway,
  groups,
  launches,
  mails,
  pages,
  refusals,
  requests,
  sharing,
  snapshots,
  ssh,
  termEnd,
  warnings,
  words,
}

/** English decides which messages there are, and with which arguments. */
export type English = typeof en
/** Name of a group of messages, the first part of each key. */
export type Area = keyof English
/** The messages of an area in another language: the same keys, none missing and none more. */
export type Translated<A extends Area> = Readonly<Record<keyof English[A], string>>
/** Every message in another language, by area and key. */
export type Catalogue = { readonly [A in Area]: Translated<A> }
