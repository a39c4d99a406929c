import type { AuthResponse } from '@berth/api/schemas/auth.ts'
import type { OwnContainers } from '#/containers/routes/own-containers.ts'
import type { User } from '#/store/users.ts'
import { toUser } from '../handlers/dto-serializers.ts'

/** Auth response: carries an access token. Source: specification, Auth response. @param lifetime seconds */
export async function authResponse(
  { ownContainers }: { ownContainers: OwnContainers },
  { user, token, lifetime }: { user: User; token: string; lifetime: number },
): Promise<AuthResponse> {
  const primary = await ownContainers.primaryRecord(user.id)
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: lifetime,
    user: { ...toUser(user), container_id: primary?.containerId ?? null },
  }
}
