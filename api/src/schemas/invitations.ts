import Type from 'typebox'

export const InvitationsBody = Type.Object({
  emails: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
  send: Type.Optional(Type.Boolean({ description: '`false` mails nothing and returns the links; default `true`' })),
  language: Type.Optional(
    Type.Union([Type.Literal('en'), Type.Literal('de')], {
      description: 'Language of the mails; default: that of the request',
    }),
  ),
})

/** The outcome for one address. */
export const Invitation = Type.Object({
  email: Type.String(),
  status: Type.Union(
    [Type.Literal('invited'), Type.Literal('already-registered'), Type.Literal('invalid'), Type.Literal('failed')],
    {
      description:
        '`invited`: a link was issued, also to an account that was never verified; `already-registered`: the account can sign in, or is blocked; `invalid`: not an e-mail address; `failed`: the mail was not accepted or the time ran out, nothing was stored',
    },
  ),
  link: Type.Optional(Type.String({ description: 'With `send: false`' })),
})

export const InvitationsResponse = Type.Object({ message: Type.String(), invitations: Type.Array(Invitation) })
export type InvitationsResponse = Type.Static<typeof InvitationsResponse>
