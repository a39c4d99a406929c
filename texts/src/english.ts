import type { Language } from '@berth/api/boot.ts'
import { answers as answersDe } from '#/de/answers.ts'
import { findings as findingsDe } from '#/de/findings.ts'
import { faults as faultsDe, gateway as gatewayDe, pages as pagesDe } from '#/de/gateway.ts'
import { groups as groupsDe, termEnd as termEndDe } from '#/de/groups.ts'
import { launches as launchesDe } from '#/de/launches.ts'
import { mails as mailsDe } from '#/de/mails.ts'
import { refusals as refusalsDe } from '#/de/refusals.ts'
import { requests as requestsDe } from '#/de/requests.ts'
import { sharing as sharingDe } from '#/de/sharing.ts'
import { snapshots as snapshotsDe } from '#/de/snapshots.ts'
import { warnings as warningsDe } from '#/de/warnings.ts'
import { words as wordsDe } from '#/de/words.ts'
import { answers } from '#/en/answers.ts'
import { findings } from '#/en/findings.ts'
import { faults, gateway, pages } from '#/en/gateway.ts'
import { groups, termEnd } from '#/en/groups.ts'
import { launches } from '#/en/launches.ts'
import { mails } from '#/en/mails.ts'
import { refusals } from '#/en/refusals.ts'
import { requests } from '#/en/requests.ts'
import { sharing } from '#/en/sharing.ts'
import { snapshots } from '#/en/snapshots.ts'
import { warnings } from '#/en/warnings.ts'
import { words } from '#/en/words.ts'

const en = {
  answers,
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
  termEnd,
  warnings,
  words,
}

const de: Catalogue = {
  answers: answersDe,
  faults: faultsDe,
  findings: findingsDe,
  gateway: gatewayDe,
  groups: groupsDe,
  launches: launchesDe,
  mails: mailsDe,
  pages: pagesDe,
  refusals: refusalsDe,
  requests: requestsDe,
  sharing: sharingDe,
  snapshots: snapshotsDe,
  termEnd: termEndDe,
  warnings: warningsDe,
  words: wordsDe,
}

/** English decides which messages there are, and with which arguments. */
export type English = typeof en
export type Area = keyof English
/** The messages of an area in another language: the same keys, none missing and none more. */
export type Translated<A extends Area> = Readonly<Record<keyof English[A], string>>
export type Catalogue = { readonly [A in Area]: Translated<A> }

/** Everything that the server says to people: ICU messages, by area and key. */
export const catalogues: Readonly<Record<Language, Catalogue>> = { en, de }
