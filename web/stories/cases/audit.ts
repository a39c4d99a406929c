import type { AuditEntry, AuditResponse } from '@berth/api/schemas/administration/audit.ts'
import { namedTypes } from '../admin-list-fixtures.ts'
import { ada, minutesAgo } from '../user-fixtures.ts'
import { never, Refused, unreachable, type Story } from '../story.ts'

const boot = { is_admin: true }
const [boss, grace, operator] = [
  { id: 1, email: 'ada@example.org' },
  { id: 2, email: 'grace@example.org' },
  { id: null, email: 'operator root' },
]
const address = '192.0.2.17'
const blocked = { before: { is_blocked: false }, after: { is_blocked: true } }

/** One entry of each kind, as at a school, newest first. */
const kinds: readonly Omit<AuditEntry, 'id' | 'at'>[] = [
  { actor: boss, action: 'user.block', target: 'user:12', detail: { containers: [3, 4], ...blocked, address } },
  {
    actor: grace,
    action: 'user.takeover',
    target: 'user:13',
    detail: { reason: 'Asked me to look at why the notebook does not start.', until: minutesAgo(-10), address },
  },
  {
    actor: boss,
    action: 'container.block',
    target: 'container:3',
    detail: {
      user: 12,
      type: 'dev',
      before: { is_blocked: false, blocked_at: null, blocked_by: null },
      after: { is_blocked: true, blocked_at: minutesAgo(130), blocked_by: 1 },
      address,
    },
  },
  {
    actor: { id: 13, email: 'student@example.org' },
    action: 'container.share',
    target: 'container:4',
    detail: { type: 'dev', may: 'look', until: minutesAgo(-60), with: grace.email, asked_in: 'group:7', address },
  },
  { actor: operator, action: 'container.stop', target: 'container:9', detail: { address: 'command line' } },
  {
    actor: boss,
    action: 'user.promote',
    target: 'user:2',
    detail: { before: { is_admin: false }, after: { is_admin: true }, address },
  },
  {
    actor: boss,
    action: 'user.invite',
    target: 'user:14',
    detail: { email: 'noor@example.org', is_mailed: true, address },
  },
  { actor: boss, action: 'user.invite-failed', target: 'user:15', detail: { email: 'typo@exmaple.org', address } },
  {
    actor: operator,
    action: 'keys.rotate',
    target: 'key:k2',
    detail: { before: { kid: 'k1' }, after: { kid: 'k2' }, accepted_until: minutesAgo(-600), address: 'command line' },
  },
  { actor: operator, action: 'link.print', target: 'user:13', detail: { purpose: 'login', address: 'command line' } },
  {
    actor: grace,
    action: 'user.delete',
    target: 'user:11',
    detail: {
      slug: 'left',
      containers: [],
      purge: false,
      before: {
        email: 'somebody.with.a.very.long.name.indeed@institute-of-technology.example.org',
        state: 'active',
        is_admin: false,
        is_blocked: true,
        created_at: minutesAgo(60 * 24 * 90),
      },
      address,
    },
  },
  { actor: boss, action: 'user.unblock', target: 'user:16', detail: { containers: [], address } },
  { actor: boss, action: 'home.freeze', target: 'home:7', detail: { address } },
]

const names = { 2: 'grace@example.org', 12: 'bo@example.org', 13: 'chris@example.org' }

/** @param newest id of the first */
function page(newest: number, count: number): AuditEntry[] {
  return Array.from({ length: Math.min(count, newest) }, (_, index) => {
    const id = newest - index
    return { id, at: minutesAgo(20 + (500 - id) * 97), ...kinds[(500 - id + kinds.length * 50) % kinds.length]! }
  })
}

const few: AuditResponse = {
  entries: page(500, 12).map((each, index) => ({ ...each, id: 12 - index })),
  next_cursor: null,
  names,
}

/** A log of 500 entries, as the server returns it. */
function log(request: Request): AuditResponse {
  const query = new URL(request.url).searchParams
  const [limit, cursor] = [Number(query.get('limit')), Number(query.get('cursor') ?? 501)]
  const entries = page(cursor - 1, limit)
  const last = entries.at(-1)?.id ?? 1
  return { entries, next_cursor: last > 1 ? String(last) : null, names }
}

/** As `log` for a reader; an export receives one page, and waits for the next. */
function slowLog(request: Request): AuditResponse {
  const query = new URL(request.url).searchParams
  if (query.get('limit') !== '1000') return log(request)
  if (query.has('cursor')) return never as unknown as AuditResponse
  return { entries: page(500, 320), next_cursor: '181' }
}

const filtered = `/admin/audit?${new URLSearchParams({
  actor: 'ada@example.org',
  action: 'user.',
  target: 'user:12',
  since: minutesAgo(3_000),
  until: minutesAgo(0),
})}`
const head = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

/** The audit log. */
export const auditStories: readonly Story[] = [
  audit('full', { listAudit: few }),
  audit('expanded', { listAudit: few }, { press: ['08:40 ada@example.org blocked bo@example.org and 2 containers'] }),
  audit('long', { listAudit: log }, { press: ['Show more'] }),
  audit('empty', { listAudit: { entries: [], next_cursor: null, names: {} } }),
  audit('filtered', { listAudit: { ...few, entries: few.entries.slice(0, 1) } }, { path: filtered }),
  audit('no-match', { listAudit: { entries: [], next_cursor: null, names: {} } }, { path: filtered }),
  audit('exporting', { listAudit: slowLog }, { press: ['Export as CSV'] }),
  audit(
    'verified',
    { listAudit: few, verifyAudit: { entries: 12, head, first_broken: null } },
    { press: ['Verify the log'] },
  ),
  audit(
    'broken',
    { listAudit: few, verifyAudit: { entries: 7, head, first_broken: { id: 8, what: 'changed' } } },
    { press: ['Verify the log'] },
  ),
  audit('loading', { listAudit: never }),
  audit('refused', { listAudit: new Refused(400, 'The target is not right.') }, { path: filtered }),
  audit('unreachable', { listAudit: unreachable }),
]

function audit(state: string, answers: Story['answers'], more: Partial<Story> = {}): Story {
  return {
    name: `audit/${state}`,
    path: '/admin/audit',
    boot,
    answers: { me: ada, listContainers: namedTypes, ...answers },
    ...more,
  }
}
