import { useQueryClient } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api/api-client.ts'
import { whileVisible } from '#/events/while-visible.ts'
import { managedGroupKey, membersKey } from '#/groups/use-members.ts'
import { MemberStatesStore, type MemberStates } from './member-states-store.ts'

const pathOf = (id: string) => endpoints.groupEvents.path.replace('{id}', encodeURIComponent(id))

/** The present states of a group's members; updated while the page is visible. Without the stream pages show the list alone. */
export function useMemberStates(id: string): MemberStates {
  const client = useQueryClient()
  const [store] = useState(
    () =>
      new MemberStatesStore({
        open: (lastId, signal) => openStream(pathOf(id), lastId, signal),
        whileVisible,
        onChanged: () => {
          void client.invalidateQueries({ queryKey: membersKey(id) })
          void client.invalidateQueries({ queryKey: managedGroupKey(id) })
        },
      }),
  )
  return useSyncExternalStore(store.subscribe, store.get)
}
