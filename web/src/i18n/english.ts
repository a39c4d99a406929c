/** The texts for every user, of which the build leaves English alone here: a page loads the file of its language. */
export { dashboard } from '#/messages/dashboard.ts'
export { frame, takeover } from '#/messages/frame.ts'
export { signIn } from '#/messages/sign-in.ts'
