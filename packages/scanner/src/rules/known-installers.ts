import { regex } from '../text/regex.ts'
import { words } from './shapes.ts'

/**
 * Hosts of vendors that document the installation of their program by a pipe into a shell. Users who trust the program
 * trust the pipe too, so such a pipe is `power` and not `suspicious`. Add only addresses that a vendor documents.
 */
const hosts = words(`
  bun.sh bun.com astral.sh sh.rustup.rs static.rust-lang.org deno.land deb.nodesource.com rpm.nodesource.com
  get.pnpm.io get.volta.sh fnm.vercel.app install.python-poetry.org pyenv.run bootstrap.pypa.io getcomposer.org
  get.sdkman.io get.haskellstack.org get-ghcup.haskell.org install.julialang.org mise.run mise.jdx.dev get.rvm.io
  go.dev swift.org pixi.sh pdm-project.org nixos.org install.determinate.systems get.scoop.sh
  community.chocolatey.org chocolatey.org brew.sh dot.net aka.ms packages.microsoft.com cpanmin.us
  install.perlbrew.pl moonrepo.dev wasmtime.dev get.docker.com get.k3s.io get.helm.sh get.rke2.io istio.io
  run.linkerd.io fluxcd.io cli.github.com sdk.cloud.google.com fly.io railway.com railway.app cli.doppler.com
  tailscale.com get.pulumi.com cli.upbound.io get.submariner.io dl.dagger.io packages.gitlab.com sentry.io
  get.nextflow.io rclone.org get.okteto.com kots.io get.tur.so cli.coderabbit.ai cli.nexus.xyz get.expo.dev
  encore.dev claude.ai cursor.com ollama.com ollama.ai opencode.ai openclaw.ai starship.rs get.chezmoi.io
  just.systems setup.atuin.sh foundry.paradigm.xyz release.solana.com release.anza.xyz aptos.dev
  install.duckdb.org get.modular.com get.jetify.com get.jetpack.io bindplane.observiq.com zed.dev app.factory.ai
  gh.io dl.google.com www.npmjs.com vapi.ai warp.dev install.meteor.com
`)

/** Repositories on GitHub whose raw installers are piped into a shell. */
const repositories = words(`
  homebrew/install nvm-sh/nvm pyenv/pyenv-installer ohmyzsh/ohmyzsh helm/helm rancher/k3d k3d-io/k3d
  golangci/golangci-lint anchore/syft anchore/grype aquasecurity/trivy nektos/act kubernetes-sigs
  infracost/infracost junegunn/vim-plug rust-lang mitsuhiko/rye openclaw/openclaw ajeetdsouza/zoxide argoproj
  sdkman derailed/k9s jesseduffield trufflesecurity/trufflehog gitleaks/gitleaks cli/cli
`)

const escape = (text: string) => text.replaceAll('.', String.raw`\.`)

/** The part after `://` of the URL of a known installer. */
export const knownInstaller = regex`(www\.)?${hosts.map(escape)}[/"'\s)]|
  (raw\.githubusercontent\.com|github\.com)/${repositories}/`
