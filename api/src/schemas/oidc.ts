import Type from 'typebox'

/** How people may sign in, in the order of the login page. */
export const Providers = Type.Object({
  providers: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Key of `OIDC_PROVIDERS_FILE`' }),
      display_name: Type.String(),
    }),
  ),
  email_link: Type.Boolean({ description: 'Whether a mailed link lets people in' }),
})
export type Providers = Type.Static<typeof Providers>

export const ProviderPath = Type.Object({ provider: Type.String({ description: 'Id of the provider' }) })

/** What is longer, or leads elsewhere, is ignored and does not prevent a sign-in. */
export const NextQuery = Type.Object({
  next: Type.Optional(Type.String({ description: 'Path to go on to' })),
})

/**
 * What is repeated or longer counts as missing: the answer is a page in any case.
 * Source: RFC 6749, 4.1.2 and 4.1.2.1; OpenID Connect Core, 3.1.2.6; RFC 9207, 2.
 */
export const CallbackQuery = Type.Object({
  state: Type.Optional(Type.String({ maxLength: 512 })),
  code: Type.Optional(Type.String({ maxLength: 8_192 })),
  iss: Type.Optional(Type.String({ maxLength: 2_048 })),
  error: Type.Optional(Type.String({ maxLength: 256 })),
  error_description: Type.Optional(Type.String({ maxLength: 4_096 })),
})

/** Source: OpenID Connect Back-Channel Logout, 2.5. */
export const LogoutForm = Type.Object({ logout_token: Type.String({ minLength: 1, maxLength: 16_384 }) })
