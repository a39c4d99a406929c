/** What an API token may do. `containers:write` contains `containers:read`, `admin:write` contains `admin:read`. */
export const scopes = ['containers:read', 'containers:write', 'admin:read', 'admin:write'] as const
export type Scope = (typeof scopes)[number]
/** Scopes of the endpoints with access `user`, and of those with access `admin`. */
export type ContainersScope = 'containers:read' | 'containers:write'
export type AdminScope = Exclude<Scope, ContainersScope>

export const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text)
/** Only administrators have tokens with one. */
export const isAdminScope = (scope: Scope): scope is AdminScope => scope.startsWith('admin:')

/** Whether a token with these scopes may call an endpoint that asks for `wanted`. */
export const grants = (granted: readonly Scope[], wanted: Scope): boolean =>
  granted.includes(wanted) || granted.includes(wanted.replace(/:read$/, ':write') as Scope)
