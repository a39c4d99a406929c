import { useState, useSyncExternalStore } from 'react'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api/api-client.ts'
import { whileVisible } from '#/events/while-visible.ts'
import { useMembersChanged } from '#/groups/use-members.ts'
import { MemberStatesStore, type MemberStates } from './member-states-store.ts'

const pathOf = (id: string) => endpoints.groupEvents.path.replace('{id}', encodeURIComponent(id))

/** The present states of a group's members; updated while the page is visible. Without the stream pages show the list alone. */
export function useMemberStates(id: string): MemberStates {
  const changed = useMembersChanged(id)
  const [store] = useState(
    () =>
      new MemberStatesStore({
        open: (lastId, signal) => openStream(pathOf(id), lastId, signal),
        whileVisible,
        // Who accepts an invitation is a member, and no longer among the invitations.
        onChanged: () => void changed(),
      }),
  )
  return useSyncExternalStore(store.subscribe, store.get)
}
