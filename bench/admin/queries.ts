const orders = ['id', '-id', 'email', '-email', 'last_used', '-last_used', 'created_at', '-created_at']
const users = [
  'q=person777',
  'q=no-match',
  'state=registered',
  'state=active',
  'is_admin=true',
  'is_blocked=true',
  'is_blocked=false',
]
const containers = [
  'q=person777',
  'q=no-match',
  'container_type=prod',
  'is_blocked=true',
  'is_blocked=false',
  'status=running',
  'status=stopped',
  'status=missing',
  'status=failed',
]
/** A filter with few matches and an order whose index would be read to its end for them. */
const both = ['q=no-match&sort=email', 'q=no-match&sort=-last_used', 'is_blocked=true&sort=-last_used']

/** First pages of the lists with each order and each filter, counts, and ranges of the audit log. */
export const allQueries = () => [
  ...listQueries('users', [...users, ...both, 'is_admin=true&sort=email']),
  ...listQueries('containers', [...containers, ...both, 'status=stopped&sort=email', 'status=running&sort=last_used']),
  ...['', 'q=no-match', 'state=active', 'is_blocked=false'].map((filter) => `users/count?${filter}`),
  ...['', 'q=no-match', 'is_blocked=false', 'status=stopped'].map((filter) => `containers/count?${filter}`),
  ...auditQueries(),
  ...groupQueries,
  ...usageQueries(),
]

/** Groups, and the page of one; these have no `/admin` in their paths. */
const groupQueries = [
  'groups?limit=50',
  'groups?limit=50&q=course 77',
  'groups?limit=50&q=no-match',
  'groups/7',
  'groups/7/members?limit=100',
  'groups/7/invitations',
]

/** What the page about use asks for, and pages of its files. */
function usageQueries(): string[] {
  const of = ['', 'type=dev', 'user=person777@crowd.test', 'user=50777', 'group=7']
  const rows = ['by=type', 'by=type&user=50777', 'by=group', 'by=group&unit=month', 'by=type&group=7']
  const users = ['by=user', 'by=user&type=dev', 'by=user&cursor=5000', 'by=user&group=7', 'by=user&unit=month']
  const files = ['by=user&sort=key&cursor=50000&limit=1000', 'by=user&unit=month&sort=key&limit=1000']
  return [...of, ...of.map((each) => `unit=month&${each}`), ...rows, ...users, ...files].map(
    (query) => `usage?${query}`,
  )
}

function listQueries(list: string, filters: readonly string[]): string[] {
  return [...orders.map((order) => `sort=${order}`), ...filters].map((query) => `${list}?limit=100&${query}`)
}

function auditQueries(): string[] {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 19) + 'Z'
  return [`audit?since=${ago(30)}`, `audit?until=${ago(290)}`, `audit?since=${ago(200)}&until=${ago(199)}`]
}
