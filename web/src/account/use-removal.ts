import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Client } from '@berth/api/client.ts'
import { createApiClient } from '#/api/api-client.ts'
import { focusHeading } from '#/router/router.ts'

/** Removes something of the user's own and reads its list again, also after a refusal: another tab may have removed it. */
export function useRemoval(
  queryKey: readonly string[],
  remove: (api: Client, params: { id: string }) => Promise<unknown>,
) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: number) => remove(createApiClient(new AbortController().signal), { id: String(id) }),
    // The pressed button goes away with its row, so the focus must leave it first.
    onSuccess: () => focusHeading(),
    onSettled: () => client.invalidateQueries({ queryKey }),
  })
}
