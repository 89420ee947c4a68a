// slipway-images makes the images of a release, and the release image that names them, as one OCI image layout, and from
// that what a registry serves.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

const usage = `usage: slipway-images build --components FILE --crds FILE --inputs DIR... --output DIR --version VERSION [--version-of NAME=VERSION]... [--key FILE [--trust FILE]...]
       slipway-images registry --layout DIR --output DIR

build:

  --components  the table of layers and images (images/components.yaml)
  --crds        the list of CRDs that the release image carries (images/crds.txt)
  --inputs      where the files that the table and the list name are looked up; may be given more than once
  --output      the OCI image layout to make or to bring up to date; beside it, DIR.layers.json remembers what was compressed
  --version     version of the release
  --version-of  version of something inside it, for the rows that name it under "versions"; may be given more than once
  --key         private key that signs the release (Ed25519, PKCS #8, PEM); clusters of the release trust its public key
  --trust       public key that clusters of the release trust, too (PEM); may be given more than once

registry:
  --layout      the OCI image layout to serve
  --output      the storage directory of a registry to make or to replace, on the same file system
`

// problems collects errors, so that a run reports all of them.
type problems []error

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }
func (p problems) err() error                      { return errors.Join(p...) }

func newFlags(command string) *flag.FlagSet {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.Usage = func() {}
	flags.SetOutput(new(strings.Builder)) // the error is returned, and printed once
	return flags
}

// parse reads the options of a command, all of which must be given.
func parse(flags *flag.FlagSet, args []string, required ...string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, name := range required {
		if !given[name] {
			return fmt.Errorf("--%s is missing", name)
		}
	}
	return nil
}

// filled is an option that must not be empty.
func filled(to *string) func(string) error {
	return func(text string) error {
		*to = text
		if text == "" {
			return errors.New("must not be empty")
		}
		return nil
	}
}

func parseBuild(args []string) (Options, error) {
	options := Options{Versions: map[string]string{}}
	flags := newFlags("build")
	flags.Func("components", "", filled(&options.Components))
	flags.Func("crds", "", filled(&options.CRDs))
	flags.Func("output", "", filled(&options.Output))
	flags.Func("version", "", filled(&options.Version))
	flags.Func("key", "", filled(&options.Key))
	flags.Func("trust", "", func(file string) error { options.Trust = append(options.Trust, file); return nil })
	flags.Func("inputs", "", func(dir string) error { options.Inputs = append(options.Inputs, dir); return nil })
	flags.Func("version-of", "", func(text string) error {
		name, version, ok := strings.Cut(text, "=")
		if !ok || name == "" || version == "" {
			return errors.New("must be NAME=VERSION")
		}
		options.Versions[name] = version
		return nil
	})
	return options, parse(flags, args, "components", "crds", "inputs", "output", "version")
}

func parseRegistry(args []string) (layout, output string, err error) {
	flags := newFlags("registry")
	flags.Func("layout", "", filled(&layout))
	flags.Func("output", "", filled(&output))
	err = parse(flags, args, "layout", "output")
	return layout, output, err
}

func main() {
	if len(os.Args) < 2 || os.Args[1] != "build" && os.Args[1] != "registry" {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	if os.Args[1] == "build" {
		options, err := parseBuild(os.Args[2:])
		orUsage(err)
		orFail("making release "+options.Version, Build(options, say))
	} else {
		layout, output, err := parseRegistry(os.Args[2:])
		orUsage(err)
		orFail("making the registry of "+layout, MakeRegistry(layout, output, say))
	}
}

func orUsage(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "slipway-images: %v\n\n%s", err, usage)
		os.Exit(2)
	}
}

func orFail(doing string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "slipway-images: %s:\n  %s\n", doing, strings.ReplaceAll(err.Error(), "\n", "\n  "))
		os.Exit(1)
	}
}
