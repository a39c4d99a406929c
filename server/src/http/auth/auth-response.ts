import type { AuthResponse } from '@berth/api/schemas/auth.ts'
import { primaryOf } from '#/containers/state/status-lookups.ts'
import type { Templates } from '#/containers/templates/template.ts'
import type { Database } from '#/store/database.ts'
import { listContainersOf } from '#/store/containers/user-containers.ts'
import type { User } from '#/store/users/users.ts'

/** The answer that carries an access token. Source: specification, Auth response. @param lifetime seconds */
export async function authResponse(
  { database, templates }: { database: Database; templates: Templates },
  { user, token, lifetime }: { user: User; token: string; lifetime: number },
): Promise<AuthResponse> {
  const records = await listContainersOf(database.db, user.id)
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: lifetime,
    user: {
      id: user.id,
      email: user.email,
      slug: user.slug,
      is_admin: user.isAdmin,
      state: user.state,
      container_id: primaryOf(records, templates)?.containerId ?? null,
    },
  }
}
