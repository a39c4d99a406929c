import Type from 'typebox'

/**
 * 1 to 100 addresses, each counted once. `send: false` mails nothing: the links are in the answer, to be sent by hand.
 * `language` is that of the mails; by default the one of the request, which is the administrator's own.
 */
export const InvitationsBody = Type.Object({
  emails: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
  send: Type.Optional(Type.Boolean()),
  language: Type.Optional(Type.Union([Type.Literal('en'), Type.Literal('de')])),
})

/**
 * What became of one address.
 * - `invited`: it has a link; who never verified their address is invited again.
 * - `already-registered`: its owner can sign in, or is blocked.
 * - `invalid`: no address that mail can be sent to.
 * - `failed`: the mail was not accepted, or there was no time left; nothing was stored.
 */
export const Invitation = Type.Object({
  email: Type.String(),
  status: Type.Union([
    Type.Literal('invited'),
    Type.Literal('already-registered'),
    Type.Literal('invalid'),
    Type.Literal('failed'),
  ]),
  link: Type.Optional(Type.String()),
})

export const InvitationsResponse = Type.Object({ message: Type.String(), invitations: Type.Array(Invitation) })
export type InvitationsResponse = Type.Static<typeof InvitationsResponse>
