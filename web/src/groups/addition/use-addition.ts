import { maxEmails, type AddMembersResponse, type GroupRole } from '@berth/api/schemas/groups.ts'
import type { MemberPrediction } from '@berth/api/schemas/groups/group-invitations.ts'
import { useRef, useState } from 'react'
import { createApiClient } from '#/api/api-client.ts'
import { useTask } from '#/components/use-task.ts'
import type { FoundAddresses } from '#/addresses/find-addresses.ts'
import { withoutEarlier, type EarlierAddition } from './earlier-addition.ts'

/** Max addresses of one addition. */
export const maxAddresses = 10_000
/** Addresses in a request that adds: the server waits for its mails. */
const batchSize = 50
/** Longer than the server takes to mail the invitations of a request, in ms. */
const timeout = 90_000

/** How far an addition is, in addresses. */
export interface AdditionProgress {
  readonly done: number
  readonly total: number
}

type Work = (found: FoundAddresses, role: GroupRole, onEnd: () => Promise<void>) => Promise<void>

export interface Addition {
  readonly busy: boolean
  readonly error: unknown
  readonly progress: AdditionProgress | undefined
  readonly predictions: readonly MemberPrediction[] | undefined
  readonly outcome: AddMembersResponse | undefined
  /** Asks what an addition will do. */
  readonly check: Work
  /**
   * Adds, batch by batch; what was added before a failure stays added, and is in the outcome. Who was added or invited
   * by an earlier call with this role is not sent again. Managers, invited ones too, stay managers: a class list has its
   * teacher in it, who could not add the next batch without the role.
   */
  readonly add: Work
  reset(): void
}

/** Addition of many addresses to a group, with its preview. */
export function useAddition(group: string): Addition {
  const { busy, error, run, reset } = useTask()
  const [progress, setProgress] = useState<AdditionProgress>()
  const [predictions, setPredictions] = useState<readonly MemberPrediction[]>()
  const [outcome, setOutcome] = useState<AddMembersResponse>()
  const earlier = useRef<EarlierAddition>(undefined)
  const params = { id: group }

  const check: Work = (found) =>
    run(async (signal) => {
      setPredictions(undefined)
      setOutcome(undefined)
      const all: MemberPrediction[] = []
      for (const emails of batchesOf(textsOf(found), maxEmails)) {
        setProgress({ done: all.length, total: found.addresses.length })
        const { addresses } = await createApiClient(signal, timeout).previewMembers({ params, body: { emails } })
        all.push(...addresses)
      }
      setPredictions(all)
    }).finally(() => setProgress(undefined))

  const add: Work = (found, role, onEnd) =>
    run(async (signal) => {
      setOutcome(undefined)
      const { left, done: all } = withoutEarlier(textsOf(found), role, earlier.current)
      try {
        for (const emails of batchesOf(left, batchSize)) {
          setProgress({ done: countOf(all), total: found.addresses.length })
          const body = role === 'manager' ? { emails, role } : { emails }
          const answer = await createApiClient(signal, timeout).addMembers({ params, body })
          for (const list of ['added', 'invited', 'refused'] as const) all[list].push(...answer[list])
        }
      } finally {
        earlier.current = { role, added: all.added, invited: all.invited }
        setOutcome(all)
        if (countOf(all) > 0) await onEnd()
      }
    }).finally(() => setProgress(undefined))

  return {
    busy,
    error,
    progress,
    predictions,
    outcome,
    check,
    add,
    reset: () => {
      reset()
      setPredictions(undefined)
      setOutcome(undefined)
    },
  }
}

const countOf = ({ added, invited, refused }: AddMembersResponse) => added.length + invited.length + refused.length

const textsOf = ({ addresses }: FoundAddresses) => addresses.map(({ text }) => text)

function* batchesOf(addresses: readonly string[], size: number): Generator<string[]> {
  for (let at = 0; at < addresses.length; at += size) yield addresses.slice(at, at + size)
}
