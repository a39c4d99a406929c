import { useQuery } from '@tanstack/react-query'
import { connect, isSignedIn } from '#/api.ts'

/** The signed-in person; undefined while they are being looked up, and when nobody is signed in. */
export function useMe() {
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: async ({ signal }) => (await connect(signal).me()).user,
    enabled: isSignedIn(),
    staleTime: 60_000,
  })
  return data
}
