import type { Share, SharedContainer } from '@berth/api/schemas/features/sharing.ts'
import { ann, developmentEntry, minutesAgo } from '../user-fixtures.ts'
import type { Story } from '../story.ts'

const day = 60 * 24
const sharing = { people: true, groups: true, max_seconds: 30 * 86_400 }
const dev = developmentEntry()
const prod = developmentEntry({ type: 'prod', display_name: 'Production', container_id: 'c-prod' })
const share = (id: number, more: Partial<Share>): Share => ({
  id,
  container_type: 'dev',
  email: null,
  group: null,
  asked_in: null,
  may: 'look',
  port: null,
  created_at: minutesAgo(60),
  expires_at: minutesAgo(-7 * day),
  ...more,
})
const shares = [
  share(1, { email: 'ben@example.org', may: 'use' }),
  share(2, { email: 'somebody.with-a-rather-long-address@department.university.example.org' }),
  share(3, { group: { id: 3, name: 'Physics 7b' } }),
]
const visitors = [{ email: 'ben@example.org', since: minutesAgo(4) }]
const withMe: SharedContainer = {
  id: 9,
  owner: 'cem@example.org',
  container_type: 'lab',
  display_name: 'Laboratory',
  group: null,
  may: 'use',
  port: null,
  expires_at: minutesAgo(-2 * day),
  service_url: 'http://spawner.berth.localhost:8080/cem-lab',
  single_pages_only: true,
}
const page: Omit<Story, 'name'> = {
  path: '/sharing',
  boot: { sharing },
  answers: {
    me: ann,
    listContainers: { containers: [dev, prod] },
    listSharedContainers: { containers: [withMe] },
    listShares: (request) =>
      request.url.endsWith('/dev') ? { shares, visitors, single_pages_only: true } : { shares: [], visitors: [] },
    listOwnGroups: { groups: [{ id: 3, name: 'Physics 7b', role: 'member' }] },
  },
  events: [
    ['snapshot', {}],
    ['visitors', { type: 'dev', visitors }],
  ],
}

const teacher = 'tom.teacher@example.org'
const physics = { id: 3, name: 'Physics 7b' }
/** A manager asks, and another one may look and is there. */
const looks = {
  requests: [{ id: 1, by: teacher, group: 'Physics 7b', type: 'prod', expires_at: minutesAgo(-5) }],
  looks: [{ share_id: 4, by: 'ines@example.org', group: 'Chemistry', type: 'dev', expires_at: minutesAgo(-40) }],
}
const inNow = { type: 'dev', visitors: [{ email: 'ines@example.org', since: minutesAgo(2) }] }

/** Shared containers: the page, the form, and the dashboard while a visitor is there. */
export const sharingStories: readonly Story[] = [
  { name: 'sharing/visited', ...page },
  { name: 'sharing/form', ...page, press: ['ShareShare Development'] },
  {
    name: 'sharing/nothing',
    ...page,
    answers: { ...page.answers, listContainers: { containers: [] }, listSharedContainers: { containers: [] } },
    events: [['snapshot', {}]],
  },
  { name: 'sharing/off', ...page, boot: {} },
  { name: 'sharing/dashboard', ...page, path: '/' },
  {
    name: 'sharing/looks',
    ...page,
    path: '/',
    events: [
      ['snapshot', {}],
      ['looks', looks],
      ['visitors', inNow],
    ],
  },
  {
    name: 'sharing/look-listed',
    ...page,
    answers: {
      ...page.answers,
      listShares: (request) => ({
        shares: request.url.endsWith('/dev') ? [share(4, { email: teacher, asked_in: physics })] : [],
        visitors: [],
      }),
    },
    events: [
      ['snapshot', {}],
      ['looks', looks],
    ],
  },
]
