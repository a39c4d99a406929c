import type { Answers, Refused, Request } from './load.ts'

/** Requests that a scenario makes Berth refuse. All others must be answered with 200. */
export interface Expected {
  readonly requests: readonly Request[]
  /** Those that were sent after this, by `performance.now()`, must be answered. */
  readonly until?: number
  /** Max share of all requests of the scenario. */
  readonly share?: number
}

/** Nothing happens that a user should notice. */
export const none: Expected = { requests: [] }

/** Refused requests that were not expected, as missed goals. */
export function missedAnswers({ times, refused }: Answers, { requests, until, share }: Expected): string[] {
  const isExpected = ({ request, sentAt }: Refused) => requests.includes(request) && sentAt <= (until ?? Infinity)
  const unexpected = refused.filter((each) => !isExpected(each))
  const expected = refused.length - unexpected.length
  const all = [...times.values()].reduce((sum, { length }) => sum + length, 0)
  return [
    ...[...Map.groupBy(unexpected, ({ request }) => request)].map(
      ([request, each]) => `${request} was refused ${each.length} times: ${each[0]?.why}`,
    ),
    ...(expected > (share ?? 1) * all ? [`${expected} of ${all} requests were refused`] : []),
  ]
}
