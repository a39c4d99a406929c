/** As `english.ts`. */
export { dashboard } from '#/messages/dashboard.ts'
export { frame, takeover } from '#/messages/frame.ts'
export { signIn } from '#/messages/sign-in.ts'
