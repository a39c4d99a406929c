import { namedTypes } from '../admin-list-fixtures.ts'
import { auditStories } from './audit.ts'
import { ada } from '../user-fixtures.ts'
import {
  engineDown,
  healthy,
  history,
  justStarted,
  mailFailing,
  severalNodes,
  warned,
  withoutPolicies,
} from './system.ts'
import { never, Refused, unreachable, type Story } from '../story.ts'

const boot = { is_admin: true }
const refusal = new Refused(403, 'Only administrators may do this.')

/** The overview and the system page. */
export const overviewStories: readonly Story[] = [
  overview('healthy', { systemReport: healthy, systemHistory: { samples: history(1_440) } }),
  overview('day', { systemReport: healthy, systemHistory: { samples: history(1_440) } }, ['24 hours']),
  overview('values', { systemReport: healthy, systemHistory: { samples: history(30) } }, ['As a table']),
  overview('warnings', { systemReport: warned, systemHistory: { samples: history(1_440) } }),
  overview('engine-down', { systemReport: engineDown, systemHistory: { samples: history(200) } }),
  overview('just-started', { systemReport: justStarted, systemHistory: { samples: [] } }),
  overview('some-minutes', { systemReport: healthy, systemHistory: { samples: history(20) } }),
  overview('loading', { systemReport: never, systemHistory: never }),
  overview('refused', { systemReport: refusal, systemHistory: refusal }),
  overview('unreachable', { systemReport: unreachable, systemHistory: unreachable }),
  overview('without-history', {
    systemReport: healthy,
    systemHistory: new Refused(500, 'Something went wrong. Try again later.'),
  }),
  system('healthy', healthy),
  system('warnings', warned),
  system('engine-down', engineDown),
  system('just-started', justStarted),
  system('mail-failures', mailFailing),
  system('without-policies', withoutPolicies),
  system('several-nodes', severalNodes),
  system('loading', never),
  system('unreachable', unreachable),
  ...auditStories,
]

function overview(state: string, answers: Story['answers'], press?: readonly string[]): Story {
  return { name: `overview/${state}`, path: '/admin', boot, answers: { me: ada, ...answers }, ...(press && { press }) }
}

function system(state: string, systemReport: NonNullable<Story['answers']>['systemReport']): Story {
  return {
    name: `system/${state}`,
    path: '/admin/system',
    boot,
    answers: {
      me: ada,
      listContainers: namedTypes,
      systemHistory: { samples: history(state === 'just-started' ? 0 : 200) },
      ...(systemReport !== undefined && { systemReport }),
    },
  }
}
