import { namedTypes } from '../admin-list-fixtures.ts'
import type { Answer } from '@berth/api/endpoints.ts'
import { never, Refused, type Story } from '../story.ts'
import { ann, minutesAgo, today } from '../user-fixtures.ts'

const personalData: Answer<'exportOwnData'> = {
  format: 1,
  made_at: today,
  kept_for: { homes: 2_592_000, takeovers: 2_592_000, audit_addresses: 7_776_000, sessions: 7_776_000 },
  account: { ...ann.user, created_at: minutesAgo(60 * 24 * 40), is_blocked: false, extra_disk_bytes: null },
  containers: [
    {
      id: 4,
      type: 'dev',
      container_id: '3f5a9c0d1e2b',
      image: 'registry.example.org/courses/algorithms/workspace:2026-11',
      parameters: { size: 'large' },
      created_at: minutesAgo(60 * 24 * 40),
      last_used: minutesAgo(30),
      stopped_at: null,
      stop_reason: null,
      is_stop_requested: false,
      running_since: minutesAgo(300),
      retired_at: null,
      full_layer: null,
      is_blocked: false,
      blocked_at: null,
    },
  ],
  sessions: [
    {
      id: 1,
      created_at: minutesAgo(20),
      expires_at: minutesAgo(-60 * 24 * 14),
      last_used: minutesAgo(2),
      began: 'link',
      address: '2001:db8:85a3:8d3:1319:8a2e:370:7348',
      browser: 'Firefox on Windows',
      ended_at: null,
      ended_why: null,
      taken_over_by: null,
      reason: null,
    },
  ],
  links: [],
  link_requests: [{ requested_at: minutesAgo(21) }],
  api_tokens: [
    {
      id: 7,
      name: 'Laptop',
      scopes: ['containers:read', 'containers:write'],
      created_at: minutesAgo(60 * 24 * 3),
      expires_at: minutesAgo(-60 * 24 * 30),
      last_used: null,
    },
  ],
  ssh_keys: [],
  identities: [],
  groups: [
    { group: 'Algorithms', name: 'Ann Lee', role: 'member', source: 'local', created_at: minutesAgo(60 * 24 * 30) },
  ],
  invitations: [],
  shares: [],
  term_ends: [
    {
      group: 'Algorithms',
      state: 'mailed',
      problem: null,
      stays: 'group',
      downloads: 1,
      started_at: minutesAgo(60 * 24 * 2),
      kept_until: minutesAgo(-60 * 24 * 88),
    },
  ],
  archives: [{ group: 'Algorithms', type: 'dev', bytes: 48_203_112, created_at: minutesAgo(60 * 24 * 2) }],
  usage: [],
  audit_entries: [
    {
      id: 12,
      at: minutesAgo(60 * 24 * 3),
      action: 'token.create',
      target: 'user:12',
      is_own: true,
      detail: { name: 'Laptop', scopes: ['containers:read', 'containers:write'], address: '192.0.2.7' },
    },
  ],
}

/** Page of what is kept about the user. */
export const yourDataStories: readonly Story[] = [
  {
    name: 'your-data/all',
    path: '/account/data',
    answers: { me: ann, listContainers: namedTypes, listOwnHomes: { homes: [] }, exportOwnData: personalData },
  },
  {
    name: 'your-data/homes',
    path: '/account/data',
    answers: {
      me: ann,
      listContainers: namedTypes,
      listOwnHomes: {
        homes: [
          { id: 'a1', types: ['dev', 'prod'], is_former: false, bytes: 734_003_200 },
          { id: 'b2', types: ['prod'], is_former: true, bytes: 12_582_912 },
        ],
      },
      exportOwnData: never,
    },
  },
  {
    name: 'your-data/loading',
    path: '/account/data',
    answers: { me: ann, listContainers: namedTypes, listOwnHomes: { homes: [] }, exportOwnData: never },
  },
  {
    name: 'your-data/failed',
    path: '/account/data',
    answers: {
      me: ann,
      listContainers: namedTypes,
      listOwnHomes: { homes: [] },
      exportOwnData: new Refused(403, 'Only the owner of the account can do this.'),
    },
  },
]
