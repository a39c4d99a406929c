import Type from 'typebox'
import { Instant, OneOf, OrNull } from '../shapes.ts'

/** Max addresses in one request that shares a container. */
export const maxShareEmails = 50

export const ShareRight = OneOf(['look', 'use'], {
  description:
    '`look`: GET, HEAD and OPTIONS alone, and no WebSocket; `use`: every request, as the owner, but no start of a stopped container',
})
export type ShareRight = Type.Static<typeof ShareRight>

const Group = OrNull(Type.Object({ id: Type.Integer(), name: Type.String() }), {
  description: 'Its members are let in while the owner is one; null for a share with an address',
})
const Email = OrNull(Type.String(), {
  description: 'Address of the visitor, whether or not it has an account; null for a share with a group',
})

const Port = OrNull(Type.Integer(), {
  description: 'Further port of the container that it opens and nothing else; null: the main one and no other',
})

export const Share = Type.Object({
  id: Type.Integer(),
  container_type: Type.String(),
  email: Email,
  group: Group,
  asked_in: OrNull(Type.Object({ id: Type.Integer(), name: Type.String() }), {
    description:
      'Group whose manager, with this address, asked to look; the share ends with the role and with both memberships. null where the owner shared unasked',
  }),
  may: ShareRight,
  port: Port,
  created_at: Instant,
  expires_at: Instant,
})
export type Share = Type.Static<typeof Share>

/** Any text: what is no id is 404. */
export const LookRequestParams = Type.Object({ id: Type.String() })

/** Any text: an unknown type is 400, what is no id 404. */
export const ShareParams = Type.Object({ container_type: Type.String(), id: Type.String() })

export const Visitor = Type.Object({
  email: Type.String(),
  since: Instant,
})
export type Visitor = Type.Static<typeof Visitor>

const SinglePagesOnly = Type.Optional(
  Type.Literal(true, {
    description: 'Visitors get its pages in a sandbox: without what these load from the container',
  }),
)

export const SharesResponse = Type.Object({
  shares: Type.Array(Share, { description: 'Those that have not ended, oldest first' }),
  visitors: Type.Array(Visitor, { description: 'Who has the container open now by a share' }),
  single_pages_only: SinglePagesOnly,
})
export type SharesResponse = Type.Static<typeof SharesResponse>

export const ShareBody = Type.Object({
  emails: Type.Optional(
    Type.Array(Type.String({ maxLength: 320 }), {
      maxItems: maxShareEmails,
      description: 'Addresses of visitors. The answer does not tell which of them have an account',
    }),
  ),
  group_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'A group that the owner is a member of',
    }),
  ),
  may: ShareRight,
  port: Type.Optional(
    Type.Integer({
      minimum: 1_024,
      maximum: 65_535,
      description: 'Further port of the container that is opened, and nothing else; without it the main one',
    }),
  ),
  expires_at: Type.String({
    format: 'date-time',
    description:
      'In the future, and within `SHARE_MAX_DURATION`. A share of the same port with the same visitor gets these terms',
  }),
})

export const SharedContainer = Type.Object({
  id: Type.Integer({ description: 'Of the share' }),
  owner: Type.String({ description: 'E-mail address' }),
  container_type: Type.String(),
  display_name: Type.String(),
  group: Group,
  may: ShareRight,
  port: Port,
  expires_at: Instant,
  service_url: Type.String(),
  open_path: Type.Optional(Type.String({ description: 'As in `GET /api/user/containers`' })),
  single_pages_only: SinglePagesOnly,
})
export type SharedContainer = Type.Static<typeof SharedContainer>
export const SharedContainersResponse = Type.Object({
  containers: Type.Array(SharedContainer, { description: 'At most 200' }),
})

export const AdminSharesQuery = Type.Object({
  limit: Type.Optional(Type.String({ pattern: '^\\d{1,4}$', description: 'Rows of a page, 1 to 1000; default 100' })),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}$', description: '`next_cursor` of the page before' })),
  user: Type.Optional(Type.String({ maxLength: 320, description: 'E-mail address or id of the owner' })),
})
export const AdminShare = Type.Object({
  ...Share.properties,
  owner: Type.Object({ id: Type.Integer(), email: Type.String() }),
})
export type AdminShare = Type.Static<typeof AdminShare>
export const AdminSharesResponse = Type.Object({
  shares: Type.Array(AdminShare),
  next_cursor: OrNull(Type.String()),
})
export const AdminShareParams = Type.Object({ id: Type.String() })
