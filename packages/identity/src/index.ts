export { createTokenExchange, type TokenExchange, type TokenExchangeOptions } from './exchange/create-token-exchange.ts'
export { createSignIn, type SignIn, type SignInOptions } from './sign-in/create-sign-in.ts'
export { parseGroupRules } from './sign-in/group-rules.ts'
export type { ProviderSettings } from './sign-in/provider.ts'
