import { answers } from '#/de/answers.ts'
import { environments } from '#/de/environments.ts'
import { findings } from '#/de/findings.ts'
import { faults, gateway, pages } from '#/de/gateway.ts'
import { groups, termEnd } from '#/de/groups.ts'
import { launches } from '#/de/launches.ts'
import { mails } from '#/de/mails.ts'
import { refusals } from '#/de/refusals.ts'
import { requests } from '#/de/requests.ts'
import { sharing } from '#/de/sharing.ts'
import { snapshots } from '#/de/snapshots.ts'
import { ssh } from '#/de/ssh.ts'
import { warnings } from '#/de/warnings.ts'
import { words } from '#/de/words.ts'
import type { Catalogue } from './english.ts'

/** Every message in German. */
export const de: Catalogue = {
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
