// Posts 5 MB to a URL, ten times, and prints the statuses.
package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
)

func main() {
	for range [10]int{} {
		response, err := http.Post(os.Args[1], "application/json", bytes.NewReader(make([]byte, 5<<20)))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		response.Body.Close()
		fmt.Println(response.StatusCode)
	}
}
